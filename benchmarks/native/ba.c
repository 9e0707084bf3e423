/* The errors of bundle adjustment and the blocks of their Jacobian, by hand.
   A camera: rotation (3), centre (3), focal length, principal point (2), radial distortion (2). */
#include <math.h>

typedef struct {
    double still, angle, cosine, sine, dot, a[3], x[3], y[3], u, v, square, distortion, scale;
} Sight;

static Sight see(const double *camera, const double *point) {
    Sight s;
    const double *r = camera;
    double *x = s.x, *a = s.a, *y = s.y;
    double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    for (int i = 0; i < 3; i++) x[i] = point[i] - camera[3 + i];
    s.still = square == 0.0;
    if (s.still) {
        y[0] = x[0] + r[1] * x[2] - r[2] * x[1];
        y[1] = x[1] + r[2] * x[0] - r[0] * x[2];
        y[2] = x[2] + r[0] * x[1] - r[1] * x[0];
    } else {
        s.angle = sqrt(square);
        s.cosine = cos(s.angle);
        s.sine = sin(s.angle);
        for (int i = 0; i < 3; i++) a[i] = r[i] / s.angle;
        s.dot = a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
        double along = s.dot * (1.0 - s.cosine);
        y[0] = x[0] * s.cosine + (a[1] * x[2] - a[2] * x[1]) * s.sine + a[0] * along;
        y[1] = x[1] * s.cosine + (a[2] * x[0] - a[0] * x[2]) * s.sine + a[1] * along;
        y[2] = x[2] * s.cosine + (a[0] * x[1] - a[1] * x[0]) * s.sine + a[2] * along;
    }
    s.u = y[0] / y[2];
    s.v = y[1] / y[2];
    s.square = s.u * s.u + s.v * s.v;
    s.distortion = 1.0 + camera[9] * s.square + camera[10] * s.square * s.square;
    s.scale = camera[6] * s.distortion;
    return s;
}

/* The derivatives of one coordinate, multiplied by the weight: 11 by the camera, 3 by the point. */
static inline void row_of(const Sight *s, const double *camera, double weight, int coordinate, double *restrict row) {
    const double *r = camera, *a = s->a, *x = s->x;
    double at = coordinate ? s->v : s->u;
    double scale_bar = weight * at, square_bar = scale_bar * camera[6] * (camera[9] + 2.0 * camera[10] * s->square);
    double u_bar = 2.0 * s->u * square_bar + (coordinate ? 0.0 : weight * s->scale);
    double v_bar = 2.0 * s->v * square_bar + (coordinate ? weight * s->scale : 0.0);
    double y0 = u_bar / s->y[2], y1 = v_bar / s->y[2], y2 = -(y0 * s->u + y1 * s->v), x0, x1, x2;
    row[6] = scale_bar * s->distortion;
    row[7] = coordinate ? 0.0 : weight;
    row[8] = coordinate ? weight : 0.0;
    row[9] = scale_bar * camera[6] * s->square;
    row[10] = row[9] * s->square;
    if (s->still) {
        x0 = y0 + r[2] * y1 - r[1] * y2;
        x1 = y1 + r[0] * y2 - r[2] * y0;
        x2 = y2 + r[1] * y0 - r[0] * y1;
        row[0] = y2 * x[1] - y1 * x[2];
        row[1] = y0 * x[2] - y2 * x[0];
        row[2] = y1 * x[0] - y0 * x[1];
    } else {
        double rest = 1.0 - s->cosine, along = s->dot * rest, along_bar = a[0] * y0 + a[1] * y1 + a[2] * y2;
        double dot_bar = along_bar * rest, c0 = a[1] * x[2] - a[2] * x[1], c1 = a[2] * x[0] - a[0] * x[2];
        double c2 = a[0] * x[1] - a[1] * x[0], sine_bar = c0 * y0 + c1 * y1 + c2 * y2;
        double cosine_bar = x[0] * y0 + x[1] * y1 + x[2] * y2 - along_bar * s->dot;
        double a0 = y0 * along + dot_bar * x[0] + s->sine * (y2 * x[1] - y1 * x[2]);
        double a1 = y1 * along + dot_bar * x[1] + s->sine * (y0 * x[2] - y2 * x[0]);
        double a2 = y2 * along + dot_bar * x[2] + s->sine * (y1 * x[0] - y0 * x[1]);
        double angle_bar = sine_bar * s->cosine - cosine_bar * s->sine - (a0 * a[0] + a1 * a[1] + a2 * a[2]) / s->angle;
        x0 = y0 * s->cosine + dot_bar * a[0] + s->sine * (y1 * a[2] - y2 * a[1]);
        x1 = y1 * s->cosine + dot_bar * a[1] + s->sine * (y2 * a[0] - y0 * a[2]);
        x2 = y2 * s->cosine + dot_bar * a[2] + s->sine * (y0 * a[1] - y1 * a[0]);
        row[0] = a0 / s->angle + angle_bar * a[0];
        row[1] = a1 / s->angle + angle_bar * a[1];
        row[2] = a2 / s->angle + angle_bar * a[2];
    }
    row[3] = -x0;
    row[4] = -x1;
    row[5] = -x2;
    row[11] = x0;
    row[12] = x1;
    row[13] = x2;
}

void ba_objective(long count, const double *cameras, const double *points, const double *weights,
                  const double *features, const long *which_camera, const long *which_point, double *errors,
                  double *weight_errors) {
    for (long i = 0; i < count; i++) {
        const double *camera = cameras + 11 * which_camera[i];
        Sight s = see(camera, points + 3 * which_point[i]);
        errors[2 * i] = weights[i] * (s.u * s.scale + camera[7] - features[2 * i]);
        errors[2 * i + 1] = weights[i] * (s.v * s.scale + camera[8] - features[2 * i + 1]);
        weight_errors[i] = 1.0 - weights[i] * weights[i];
    }
}

void ba_jacobian(long count, const double *cameras, const double *points, const double *weights,
                 const double *features, const long *which_camera, const long *which_point, double *blocks,
                 double *of_weights) {
    for (long i = 0; i < count; i++) {
        const double *camera = cameras + 11 * which_camera[i];
        double *first = blocks + 30 * i, *second = first + 15;
        Sight s = see(camera, points + 3 * which_point[i]);
        row_of(&s, camera, weights[i], 0, first);
        row_of(&s, camera, weights[i], 1, second);
        first[14] = s.u * s.scale + camera[7] - features[2 * i];
        second[14] = s.v * s.scale + camera[8] - features[2 * i + 1];
        of_weights[i] = -2.0 * weights[i];
    }
}
