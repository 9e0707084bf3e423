/* The log-likelihood of a mixture of Gaussians with a Wishart prior, and its gradient by hand.
   l holds lower triangles without their diagonals, column by column. */
#include <math.h>
#include <stdlib.h>

static double log_sum_exp(int k, const double *restrict values, double *restrict weights) {
    double largest = values[0], total = 0.0;
    for (int c = 1; c < k; c++)
        if (values[c] > largest) largest = values[c];
    for (int c = 0; c < k; c++) {
        weights[c] = exp(values[c] - largest);
        total += weights[c];
    }
    for (int c = 0; c < k; c++) weights[c] /= total;
    return largest + log(total);
}

static double log_gamma(double a, int d) {
    double total = 0.25 * d * (d - 1) * log(M_PI);
    for (int j = 0; j < d; j++) total += lgamma(a - 0.5 * j);
    return total;
}

static double log_density(int d, const double *restrict mu, const double *restrict diagonal, const double *restrict l,
                          const double *restrict x, double *restrict centred, double *restrict scaled) {
    double square = 0.0;
    for (int j = 0; j < d; j++) {
        centred[j] = x[j] - mu[j];
        scaled[j] = diagonal[j] * centred[j];
    }
    for (int column = 0; column < d; column++) {
        double factor = centred[column];
        for (int row = column + 1; row < d; row++) scaled[row] += *l++ * factor;
    }
    for (int j = 0; j < d; j++) square += scaled[j] * scaled[j];
    return -0.5 * square;
}

static double log_prior(int d, int k, const double *q, const double *diagonal, const double *l, double gamma, int m) {
    int freedom = d + m + 1;
    double squares = 0.0, logs = 0.0;
    for (int i = 0; i < k * d; i++) {
        squares += diagonal[i] * diagonal[i];
        logs += q[i];
    }
    for (int i = 0; i < k * d * (d - 1) / 2; i++) squares += l[i] * l[i];
    return k * (freedom * d * log(gamma / sqrt(2.0)) - log_gamma(0.5 * freedom, d)) - 0.5 * gamma * gamma * squares
           + m * logs;
}

double gmm_objective(int d, int k, int n, const double *alpha, const double *mu, const double *q, const double *l,
                     const double *x, double gamma, int m) {
    int packed = d * (d - 1) / 2;
    double *diagonal = malloc(sizeof(double) * (k * d + 3 * k + 2 * d));
    double *base = diagonal + k * d, *values = base + k, *weights = values + k, *centred = weights + k;
    double *scaled = centred + d, found = 0.0;
    for (int c = 0; c < k; c++) {
        base[c] = alpha[c];
        for (int j = 0; j < d; j++) {
            diagonal[c * d + j] = exp(q[c * d + j]);
            base[c] += q[c * d + j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < k; c++)
            values[c] = base[c] + log_density(d, mu + c * d, diagonal + c * d, l + c * packed, x + i * d, centred, scaled);
        found += log_sum_exp(k, values, weights);
    }
    found -= n * log_sum_exp(k, alpha, weights);
    found += log_prior(d, k, q, diagonal, l, gamma, m) - 0.5 * n * d * log(2.0 * M_PI);
    free(diagonal);
    return found;
}

void gmm_gradient(int d, int k, int n, const double *restrict alpha, const double *restrict mu,
                  const double *restrict q, const double *restrict l, const double *restrict x, double gamma, int m,
                  double *restrict alpha_bar, double *restrict mu_bar, double *restrict q_bar, double *restrict l_bar) {
    int packed = d * (d - 1) / 2;
    double *diagonal = malloc(sizeof(double) * (2 * k * d + 3 * k + 2 * k * d + d));
    double *diagonal_bar = diagonal + k * d, *base = diagonal_bar + k * d, *values = base + k, *weights = values + k;
    double *centred = weights + k, *scaled = centred + k * d, *centred_bar = scaled + k * d;
    for (int i = 0; i < k * d; i++) {
        diagonal[i] = exp(q[i]);
        diagonal_bar[i] = -gamma * gamma * diagonal[i];
        mu_bar[i] = 0.0;
        q_bar[i] = m;
    }
    for (int i = 0; i < k * packed; i++) l_bar[i] = -gamma * gamma * l[i];
    log_sum_exp(k, alpha, weights);
    for (int c = 0; c < k; c++) {
        base[c] = alpha[c];
        alpha_bar[c] = -n * weights[c];
        for (int j = 0; j < d; j++) base[c] += q[c * d + j];
    }
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < k; c++)
            values[c] = base[c] + log_density(d, mu + c * d, diagonal + c * d, l + c * packed, x + i * d,
                                              centred + c * d, scaled + c * d);
        log_sum_exp(k, values, weights);
        for (int c = 0; c < k; c++) {
            double weight = weights[c];
            double *restrict from = centred + c * d, *restrict scaled_bar = scaled + c * d;
            const double *restrict factors = l + c * packed;
            double *restrict factors_bar = l_bar + c * packed;
            alpha_bar[c] += weight;
            for (int j = 0; j < d; j++) {
                scaled_bar[j] *= -weight;
                q_bar[c * d + j] += weight;
                centred_bar[j] = scaled_bar[j] * diagonal[c * d + j];
                diagonal_bar[c * d + j] += scaled_bar[j] * from[j];
            }
            for (int column = 0; column < d; column++) {
                double factor = from[column], sum = 0.0;
                for (int row = column + 1; row < d; row++) {
                    sum += scaled_bar[row] * *factors++;
                    *factors_bar++ += scaled_bar[row] * factor;
                }
                centred_bar[column] += sum;
            }
            for (int j = 0; j < d; j++) mu_bar[c * d + j] -= centred_bar[j];
        }
    }
    for (int i = 0; i < k * d; i++) q_bar[i] += diagonal_bar[i] * diagonal[i];
    free(diagonal);
}
