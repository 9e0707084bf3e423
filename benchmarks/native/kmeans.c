/* The cost of a clustering, and its gradient over the diagonal of its Hessian, by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int nearest(int k, int d, const double *restrict centroids, const double *restrict point, double *square) {
    int found = 0;
    *square = INFINITY;
    for (int c = 0; c < k; c++) {
        double sum = 0.0;
        for (int j = 0; j < d; j++) {
            double difference = point[j] - centroids[c * d + j];
            sum += difference * difference;
        }
        if (sum < *square) {
            *square = sum;
            found = c;
        }
    }
    return found;
}

double kmeans_cost(int k, int n, int d, const double *centroids, const double *points) {
    double total = 0.0, square;
    for (int i = 0; i < n; i++) {
        nearest(k, d, centroids, points + i * d, &square);
        total += square;
    }
    return total;
}

void kmeans_direction(int k, int n, int d, const double *restrict centroids, const double *restrict points,
                      double *restrict found) {
    double *curvature = calloc(k, sizeof(double)), square;
    memset(found, 0, sizeof(double) * k * d);
    for (int i = 0; i < n; i++) {
        int c = nearest(k, d, centroids, points + i * d, &square);
        curvature[c] += 2.0;
        for (int j = 0; j < d; j++) found[c * d + j] += 2.0 * (centroids[c * d + j] - points[i * d + j]);
    }
    for (int c = 0; c < k; c++)
        for (int j = 0; j < d; j++) found[c * d + j] /= curvature[c];
    free(curvature);
}
