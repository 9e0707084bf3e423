/* The loss of a network of long short-term memory cells, and its gradient by hand.
   main: for each layer weights, then biases, of four gates of b each; extra: three rows of b; state: hidden, cell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INTO, HIDDEN, CELL, FORGET, INGATE, OUTGATE, CHANGE, LATE, KEPT };

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

/* One character through one layer; what the reverse sweep needs is kept. */
static inline void layer(int b, const double *restrict w, double *restrict state, double *restrict x,
                         double *restrict kept) {
    const double *bias = w + 4 * b;
    double *hidden = state, *cell = state + b;
    for (int j = 0; j < b; j++) {
        double forget = sigmoid(x[j] * w[j] + bias[j]);
        double ingate = sigmoid(hidden[j] * w[b + j] + bias[b + j]);
        double outgate = sigmoid(x[j] * w[2 * b + j] + bias[2 * b + j]);
        double change = tanh(hidden[j] * w[3 * b + j] + bias[3 * b + j]);
        double now = cell[j] * forget + ingate * change, late = tanh(now);
        if (kept) {
            kept[INTO * b + j] = x[j];
            kept[HIDDEN * b + j] = hidden[j];
            kept[CELL * b + j] = cell[j];
            kept[FORGET * b + j] = forget;
            kept[INGATE * b + j] = ingate;
            kept[OUTGATE * b + j] = outgate;
            kept[CHANGE * b + j] = change;
            kept[LATE * b + j] = late;
        }
        cell[j] = now;
        hidden[j] = x[j] = outgate * late;
    }
}

static double forward(int l, int b, int c, const double *main, const double *extra, const double *start,
                      const double *sequence, double *tape, double *outputs) {
    double *state = malloc(sizeof(double) * (2 * l * b + b)), *x = state + 2 * l * b, total = 0.0;
    memcpy(state, start, sizeof(double) * 2 * l * b);
    for (int t = 0; t < c - 1; t++) {
        const double *wanted = sequence + (t + 1) * b;
        double sum = 0.0, wants = 0.0, gain = 0.0;
        for (int j = 0; j < b; j++) x[j] = sequence[t * b + j] * extra[j];
        for (int i = 0; i < l; i++)
            layer(b, main + 8 * b * i, state + 2 * b * i, x, tape ? tape + ((size_t)t * l + i) * KEPT * b : NULL);
        for (int j = 0; j < b; j++) {
            double y = x[j] * extra[b + j] + extra[2 * b + j], e = exp(y);
            if (outputs) outputs[t * b + j] = e;
            sum += e;
            gain += wanted[j] * y;
            wants += wanted[j];
        }
        total += gain - wants * log(2.0 + sum);
    }
    free(state);
    return -total / (b * (c - 1));
}

double lstm_objective(int l, int b, int c, const double *main, const double *extra, const double *state,
                      const double *sequence) {
    return forward(l, b, c, main, extra, state, sequence, NULL, NULL);
}

void lstm_gradient(int l, int b, int c, const double *restrict main, const double *restrict extra, const double *state,
                   const double *restrict sequence, double *restrict main_bar, double *restrict extra_bar) {
    double *tape = malloc(sizeof(double) * ((size_t)(c - 1) * b * (KEPT * l + 1)));
    double *outputs = tape + (size_t)(c - 1) * l * b * KEPT;
    double *state_bar = calloc(2 * l * b + b, sizeof(double)), *x_bar = state_bar + 2 * l * b;
    double unit = -1.0 / (b * (c - 1));
    forward(l, b, c, main, extra, state, sequence, tape, outputs);
    memset(main_bar, 0, sizeof(double) * 8 * l * b);
    memset(extra_bar, 0, sizeof(double) * 3 * b);
    for (int t = c - 2; t >= 0; t--) {
        const double *wanted = sequence + (t + 1) * b, *last = tape + ((size_t)t * l + l - 1) * KEPT * b;
        double sum = 2.0, wants = 0.0;
        for (int j = 0; j < b; j++) {
            sum += outputs[t * b + j];
            wants += wanted[j];
        }
        for (int j = 0; j < b; j++) {
            double y_bar = unit * (wanted[j] - wants * outputs[t * b + j] / sum);
            extra_bar[2 * b + j] += y_bar;
            extra_bar[b + j] += y_bar * last[OUTGATE * b + j] * last[LATE * b + j];
            x_bar[j] = y_bar * extra[b + j];
        }
        for (int i = l - 1; i >= 0; i--) {
            const double *restrict w = main + 8 * b * i, *restrict kept = tape + ((size_t)t * l + i) * KEPT * b;
            double *restrict w_bar = main_bar + 8 * b * i, *restrict bias_bar = w_bar + 4 * b;
            double *restrict hidden_bar = state_bar + 2 * b * i, *restrict cell_bar = hidden_bar + b;
            for (int j = 0; j < b; j++) {
                double out_bar = hidden_bar[j] + x_bar[j], x = kept[INTO * b + j], hidden = kept[HIDDEN * b + j];
                double forget = kept[FORGET * b + j], ingate = kept[INGATE * b + j], outgate = kept[OUTGATE * b + j];
                double change = kept[CHANGE * b + j], late = kept[LATE * b + j];
                double now_bar = cell_bar[j] + out_bar * outgate * (1.0 - late * late);
                double f = now_bar * kept[CELL * b + j] * forget * (1.0 - forget);
                double g = now_bar * change * ingate * (1.0 - ingate);
                double o = out_bar * late * outgate * (1.0 - outgate);
                double h = now_bar * ingate * (1.0 - change * change);
                cell_bar[j] = now_bar * forget;
                hidden_bar[j] = g * w[b + j] + h * w[3 * b + j];
                x_bar[j] = f * w[j] + o * w[2 * b + j];
                w_bar[j] += f * x;
                w_bar[b + j] += g * hidden;
                w_bar[2 * b + j] += o * x;
                w_bar[3 * b + j] += h * hidden;
                bias_bar[j] += f;
                bias_bar[b + j] += g;
                bias_bar[2 * b + j] += o;
                bias_bar[3 * b + j] += h;
            }
        }
        for (int j = 0; j < b; j++) extra_bar[j] += x_bar[j] * sequence[t * b + j];
    }
    free(tape);
    free(state_bar);
}
