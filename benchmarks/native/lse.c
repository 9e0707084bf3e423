/* The logarithm of a sum of exponentials, and its gradient by hand. */
#include <math.h>

static double greatest(long n, const double *x) {
    double largest = x[0];
    for (long i = 1; i < n; i++) largest = x[i] > largest ? x[i] : largest;
    return largest;
}

double lse_primal(long n, const double *x) {
    double largest = greatest(n, x), total = 0.0;
    for (long i = 0; i < n; i++) total += exp(x[i] - largest);
    return largest + log(total);
}

void lse_gradient(long n, const double *restrict x, double *restrict x_bar) {
    double largest = greatest(n, x), total = 0.0;
    for (long i = 0; i < n; i++) {
        x_bar[i] = exp(x[i] - largest);
        total += x_bar[i];
    }
    double factor = 1.0 / total;
    for (long i = 0; i < n; i++) x_bar[i] *= factor;
}
