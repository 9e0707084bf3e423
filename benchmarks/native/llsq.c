/* The error of a polynomial that is fitted to a step, and its gradient by hand. */
#include <string.h>

static double difference(int m, int n, const double *x, int i, double *t) {
    double value = 0.0, power = 1.0;
    *t = -1.0 + 2.0 * i / (n - 1);
    for (int j = 0; j < m; j++) {
        value += x[j] * power;
        power *= *t;
    }
    return (*t > 0.0) - (*t < 0.0) - value;
}

double llsq_primal(int m, int n, const double *x) {
    double error = 0.0, t;
    for (int i = 0; i < n; i++) {
        double found = difference(m, n, x, i, &t);
        error += found * found;
    }
    return 0.5 * error;
}

void llsq_gradient(int m, int n, const double *restrict x, double *restrict x_bar) {
    memset(x_bar, 0, sizeof(double) * m);
    for (int i = 0; i < n; i++) {
        double t, found = difference(m, n, x, i, &t), power = 1.0;
        for (int j = 0; j < m; j++) {
            x_bar[j] -= found * power;
            power *= t;
        }
    }
}
