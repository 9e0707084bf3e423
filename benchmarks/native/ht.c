/* Hand tracking: how far places on the surface of a hand are from points, and the derivatives of that by hand.
   A parameter moves few bones: derivatives are propagated to those only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 26, FINGERS = 5, COLUMNS = PARAMETERS + 2 };

typedef struct {
    int bones, vertices, count;
    const long *parents, *triangles, *correspondences;
    const double *theta, *us, *relatives, *inverses, *positions, *weights, *points;
} Hand;

static void multiply(const double *restrict a, const double *restrict b, double *restrict found) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double sum = 0.0;
            for (int k = 0; k < 4; k++) sum += a[4 * i + k] * b[4 * k + j];
            found[4 * i + j] = sum;
        }
}

/* A rotation about x by the first angle, then about z by the second; or its derivative by one of them. */
static void rotate_bone(double bend, double spread, int by, double *r) {
    double cx = cos(bend), sx = sin(bend), cz = cos(spread), sz = sin(spread), still = by < 0, other = by != 1;
    memset(r, 0, sizeof(double) * 16);
    if (by == 0) {
        double c = cx;
        cx = -sx;
        sx = c;
    }
    if (by == 1) {
        double c = cz;
        cz = -sz;
        sz = c;
    }
    r[0] = by == 0 ? 0.0 : cz;
    r[1] = -sz * cx;
    r[2] = sz * sx;
    r[4] = by == 0 ? 0.0 : sz;
    r[5] = cz * cx;
    r[6] = -cz * sx;
    r[9] = other * sx;
    r[10] = other * cx;
    r[15] = still;
}

static void angles_of(const double *theta, int bone, double *bend, double *spread) {
    int finger = (bone - 2) / 4, joint = (bone - 2) % 4;
    *bend = *spread = 0.0;
    if (bone < 2 || finger >= FINGERS || joint == 3) return;
    const double *of_finger = theta + 6 + 4 * finger;
    *bend = of_finger[joint == 0 ? 0 : joint + 1];
    if (joint == 0) *spread = of_finger[1];
}

/* The rotation about an axis by its length; and its derivatives by the three parts of the axis, if wanted. */
static void rotate_hand(const double *axis, double r[9], double by[3][9]) {
    double angle = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    memset(r, 0, sizeof(double) * 9);
    if (by) memset(by, 0, sizeof(double) * 27);
    r[0] = r[4] = r[8] = 1.0;
    if (angle < 1e-4) return;
    double u[3] = {axis[0] / angle, axis[1] / angle, axis[2] / angle}, c = cos(angle), s = sin(angle);
    double cross[9] = {0.0, -u[2], u[1], u[2], 0.0, -u[0], -u[1], u[0], 0.0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) r[3 * i + j] = (1.0 - c) * u[i] * u[j] + c * (i == j) + s * cross[3 * i + j];
    for (int p = 0; by && p < 3; p++) {
        double d[3] = {-u[p] * u[0] / angle, -u[p] * u[1] / angle, -u[p] * u[2] / angle};
        d[p] += 1.0 / angle;
        double turned[9] = {0.0, -d[2], d[1], d[2], 0.0, -d[0], -d[1], d[0], 0.0};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                by[p][3 * i + j] = s * u[p] * (u[i] * u[j] - (i == j)) + (1.0 - c) * (d[i] * u[j] + u[i] * d[j])
                                   + c * u[p] * cross[3 * i + j] + s * turned[3 * i + j];
    }
}

static void pose(const Hand *hand, double *relatives, double *absolutes, double *transforms) {
    for (int bone = 0; bone < hand->bones; bone++) {
        double rotation[16], bend, spread, *absolute = absolutes + 16 * bone;
        angles_of(hand->theta, bone, &bend, &spread);
        rotate_bone(bend, spread, -1, rotation);
        multiply(hand->relatives + 16 * bone, rotation, relatives + 16 * bone);
        if (hand->parents[bone] < 0)
            memcpy(absolute, relatives + 16 * bone, sizeof(double) * 16);
        else
            multiply(absolutes + 16 * hand->parents[bone], relatives + 16 * bone, absolute);
        multiply(absolute, hand->inverses + 16 * bone, transforms + 16 * bone);
    }
}

/* Adds to each vertex what a bone moves it to. */
static void skin(const Hand *hand, int bone, const double *restrict transform, double *restrict surface) {
    for (int v = 0; v < hand->vertices; v++) {
        const double *at = hand->positions + 4 * v;
        double weight = hand->weights[(size_t)v * hand->bones + bone];
        for (int i = 0; i < 3; i++) {
            const double *row = transform + 4 * i;
            surface[3 * v + i] += weight * (row[0] * at[0] + row[1] * at[1] + row[2] * at[2] + row[3] * at[3]);
        }
    }
}

static void turn(int vertices, const double *r, const double *surface, double *found) {
    for (int v = 0; v < vertices; v++) {
        const double *at = surface + 3 * v;
        for (int i = 0; i < 3; i++) found[3 * v + i] = r[3 * i] * at[0] + r[3 * i + 1] * at[1] + r[3 * i + 2] * at[2];
    }
}

/* Adds what a surface contributes to the errors, or to a column of their derivatives. */
static void measure(const Hand *hand, const double *surface, double *found, int stride) {
    for (int i = 0; i < hand->count; i++) {
        const long *corners = hand->triangles + 3 * hand->correspondences[i];
        double u = hand->us[2 * i], v = hand->us[2 * i + 1];
        for (int j = 0; j < 3; j++)
            found[(3 * i + j) * stride] -= u * surface[3 * corners[0] + j] + v * surface[3 * corners[1] + j]
                                           + (1.0 - u - v) * surface[3 * corners[2] + j];
    }
}

static void place(const Hand *hand, const double *rotation, double *unturned, double *surface, double *relatives,
                  double *absolutes) {
    double *transforms = malloc(sizeof(double) * 16 * hand->bones);
    pose(hand, relatives, absolutes, transforms);
    memset(unturned, 0, sizeof(double) * 3 * hand->vertices);
    for (int bone = 0; bone < hand->bones; bone++) skin(hand, bone, transforms + 16 * bone, unturned);
    turn(hand->vertices, rotation, unturned, surface);
    for (int i = 0; i < 3 * hand->vertices; i++) surface[i] += hand->theta[3 + i % 3];
    free(transforms);
}

void ht_objective(const Hand *hand, double *errors) {
    double *work = malloc(sizeof(double) * (6 * hand->vertices + 32 * hand->bones)), *surface = work + 3 * hand->vertices;
    double *relatives = surface + 3 * hand->vertices, rotation[9];
    rotate_hand(hand->theta, rotation, NULL);
    place(hand, rotation, work, surface, relatives, relatives + 16 * hand->bones);
    memcpy(errors, hand->points, sizeof(double) * 3 * hand->count);
    measure(hand, surface, errors, 1);
    free(work);
}

static void bend_finger(const Hand *hand, int parameter, const double *relatives, const double *absolutes,
                        double *changes, double *unturned) {
    int finger = (parameter - 6) / 4, which = (parameter - 6) % 4, first = 2 + 4 * finger + (which > 1 ? which - 1 : 0);
    char *moves = calloc(hand->bones, 1);
    memset(unturned, 0, sizeof(double) * 3 * hand->vertices);
    for (int bone = first; bone < hand->bones; bone++) {
        long parent = hand->parents[bone];
        double *change = changes + 16 * bone, transform[16];
        if (bone == first) {
            double bend, spread, rotation[16], relative[16];
            angles_of(hand->theta, bone, &bend, &spread);
            rotate_bone(bend, spread, which == 1, rotation);
            multiply(hand->relatives + 16 * bone, rotation, relative);
            if (parent < 0)
                memcpy(change, relative, sizeof relative);
            else
                multiply(absolutes + 16 * parent, relative, change);
        } else if (parent >= 0 && moves[parent])
            multiply(changes + 16 * parent, relatives + 16 * bone, change);
        else
            continue;
        moves[bone] = 1;
        multiply(change, hand->inverses + 16 * bone, transform);
        skin(hand, bone, transform, unturned);
    }
    free(moves);
}

void ht_jacobian(const Hand *hand, double *found) {
    int size = 3 * hand->vertices;
    double *work = malloc(sizeof(double) * (4 * size + 48 * hand->bones)), *surface = work + size;
    double *moved = surface + size, *turned = moved + size, *relatives = turned + size;
    double *absolutes = relatives + 16 * hand->bones, *changes = absolutes + 16 * hand->bones, rotation[9], by[3][9];
    rotate_hand(hand->theta, rotation, by);
    place(hand, rotation, work, surface, relatives, absolutes);
    memset(found, 0, sizeof(double) * 3 * hand->count * COLUMNS);
    for (int i = 0; i < hand->count; i++) {
        const long *corners = hand->triangles + 3 * hand->correspondences[i];
        for (int j = 0; j < 3; j++) {
            double *row = found + (3 * i + j) * COLUMNS;
            row[0] = surface[3 * corners[2] + j] - surface[3 * corners[0] + j];
            row[1] = surface[3 * corners[2] + j] - surface[3 * corners[1] + j];
            row[2 + 3 + j] = -1.0;
        }
    }
    for (int p = 0; p < 3; p++) {
        turn(hand->vertices, by[p], work, turned);
        measure(hand, turned, found + 2 + p, COLUMNS);
    }
    for (int p = 6; p < PARAMETERS; p++) {
        bend_finger(hand, p, relatives, absolutes, changes, moved);
        turn(hand->vertices, rotation, moved, turned);
        measure(hand, turned, found + 2 + p, COLUMNS);
    }
    free(work);
}
