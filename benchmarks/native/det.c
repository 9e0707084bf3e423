/* A determinant by expansion along the first row, and its gradient by hand: the cotangent goes down with the
   recursion, the determinants of the minors come up. */
#include <string.h>

static double minor(int n, const double *a, int row, unsigned used) {
    double total = 0.0, sign = 1.0;
    for (int column = 0; column < n; column++) {
        if (used >> column & 1) continue;
        double entry = sign * a[row * n + column];
        total += row == n - 1 ? a[row * n + column] : entry * minor(n, a, row + 1, used | 1u << column);
        sign = -sign;
    }
    return total;
}

static double minor_and_gradient(int n, const double *a, int row, unsigned used, double bar, double *a_bar) {
    double total = 0.0, sign = 1.0;
    for (int column = 0; column < n; column++) {
        if (used >> column & 1) continue;
        double entry = sign * a[row * n + column];
        double rest = row == n - 1 ? 1.0 : minor_and_gradient(n, a, row + 1, used | 1u << column, bar * entry, a_bar);
        a_bar[row * n + column] += bar * sign * rest;
        total += entry * rest;
        sign = -sign;
    }
    return total;
}

double det_primal(int n, const double *a) { return minor(n, a, 0, 0); }

void det_gradient(int n, const double *a, double *a_bar) {
    memset(a_bar, 0, sizeof(double) * n * n);
    minor_and_gradient(n, a, 0, 0, 1.0, a_bar);
}
