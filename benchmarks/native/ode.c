/* y[i]' = x[i] y[i - 1] by the classical Runge-Kutta method, and the pullback of a cotangent of y, by hand. */
#include <stdlib.h>
#include <string.h>

static void slope(int n, const double *restrict x, const double *restrict y, double *restrict found) {
    found[0] = x[0];
    for (int i = 1; i < n; i++) found[i] = x[i] * y[i - 1];
}

static void advance(int n, const double *restrict y, double h, const double *restrict k, double *restrict found) {
    for (int i = 0; i < n; i++) found[i] = y[i] + h * k[i];
}

/* The places at which slopes were taken are kept, four for each step, if there is a tape. */
static void forward(int n, int steps, const double *x, double *restrict y, double *tape) {
    double h = 2.0 / steps, *work = malloc(sizeof(double) * 7 * n);
    double *restrict k1 = work, *restrict k2 = work + n, *restrict k3 = work + 2 * n, *restrict k4 = work + 3 * n;
    memset(y, 0, sizeof(double) * n);
    for (int step = 0; step < steps; step++) {
        double *at = tape ? tape + (size_t)4 * n * step : NULL;
        double *at2 = at ? at + n : work + 4 * n, *at3 = at ? at + 2 * n : work + 5 * n, *at4 = at ? at + 3 * n : work + 6 * n;
        if (at) memcpy(at, y, sizeof(double) * n);
        slope(n, x, y, k1);
        advance(n, y, 0.5 * h, k1, at2);
        slope(n, x, at2, k2);
        advance(n, y, 0.5 * h, k2, at3);
        slope(n, x, at3, k3);
        advance(n, y, h, k3, at4);
        slope(n, x, at4, k4);
        for (int i = 0; i < n; i++) y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
    free(work);
}

/* Takes the cotangent of slopes to those of y (into y_bar) and of x (added). */
static void pull(int n, const double *restrict x, const double *restrict y, const double *restrict k_bar,
                 double *restrict y_bar, double *restrict x_bar) {
    x_bar[0] += k_bar[0];
    for (int i = 1; i < n; i++) {
        x_bar[i] += k_bar[i] * y[i - 1];
        y_bar[i - 1] = k_bar[i] * x[i];
    }
    y_bar[n - 1] = 0.0;
}

void ode_primal(int n, int steps, const double *x, double *y) { forward(n, steps, x, y, NULL); }

void ode_pullback(int n, int steps, const double *x, const double *seed, double *restrict x_bar) {
    double *tape = malloc(sizeof(double) * ((size_t)4 * n * steps + 4 * n)), h = 2.0 / steps;
    double *restrict y_bar = tape + (size_t)4 * n * steps, *restrict k_bar = y_bar + n, *restrict at_bar = k_bar + n;
    double *restrict now_bar = at_bar + n;
    forward(n, steps, x, y_bar, tape);
    memcpy(y_bar, seed, sizeof(double) * n);
    memset(x_bar, 0, sizeof(double) * n);
    for (int step = steps - 1; step >= 0; step--) {
        const double *at = tape + (size_t)4 * n * step;
        for (int i = 0; i < n; i++) k_bar[i] = h / 6.0 * y_bar[i];
        pull(n, x, at + 3 * n, k_bar, at_bar, x_bar);
        for (int i = 0; i < n; i++) {
            now_bar[i] = y_bar[i] + at_bar[i];
            k_bar[i] = h / 3.0 * y_bar[i] + h * at_bar[i];
        }
        pull(n, x, at + 2 * n, k_bar, at_bar, x_bar);
        for (int i = 0; i < n; i++) {
            now_bar[i] += at_bar[i];
            k_bar[i] = h / 3.0 * y_bar[i] + 0.5 * h * at_bar[i];
        }
        pull(n, x, at + n, k_bar, at_bar, x_bar);
        for (int i = 0; i < n; i++) {
            now_bar[i] += at_bar[i];
            k_bar[i] = h / 6.0 * y_bar[i] + 0.5 * h * at_bar[i];
        }
        pull(n, x, at, k_bar, at_bar, x_bar);
        for (int i = 0; i < n; i++) y_bar[i] = now_bar[i] + at_bar[i];
    }
    free(tape);
}
