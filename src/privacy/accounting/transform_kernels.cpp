#include "privacy/accounting/transform_kernels.h"

namespace sotto::privacy {

void transform_by_four(SplitNumbers from, SplitNumbers to, SplitNumbers circle, std::size_t quarter,
                       std::size_t parts) {
  for (std::size_t p = 0; p < quarter; ++p) {
    const double c1 = circle.real[p * parts], s1 = circle.imaginary[p * parts];
    const double c2 = circle.real[2 * p * parts], s2 = circle.imaginary[2 * p * parts];
    const double c3 = circle.real[3 * p * parts], s3 = circle.imaginary[3 * p * parts];
    const double* __restrict x = from.real + parts * p;
    const double* __restrict y = from.imaginary + parts * p;
    double* __restrict u = to.real + 4 * parts * p;
    double* __restrict v = to.imaginary + 4 * parts * p;
    const std::size_t next = quarter * parts;
    for (std::size_t q = 0; q < parts; ++q) {
      const double even_x = x[q] + x[q + 2 * next], even_y = y[q] + y[q + 2 * next];
      const double odd_x = x[q] - x[q + 2 * next], odd_y = y[q] - y[q + 2 * next];
      const double sum_x = x[q + next] + x[q + 3 * next], sum_y = y[q + next] + y[q + 3 * next];
      const double turned_x = y[q + 3 * next] - y[q + next], turned_y = x[q + next] - x[q + 3 * next];
      const double first_x = odd_x - turned_x, first_y = odd_y - turned_y;
      const double second_x = even_x - sum_x, second_y = even_y - sum_y;
      const double third_x = odd_x + turned_x, third_y = odd_y + turned_y;
      u[q] = even_x + sum_x;
      v[q] = even_y + sum_y;
      u[q + parts] = c1 * first_x - s1 * first_y;
      v[q + parts] = c1 * first_y + s1 * first_x;
      u[q + 2 * parts] = c2 * second_x - s2 * second_y;
      v[q + 2 * parts] = c2 * second_y + s2 * second_x;
      u[q + 3 * parts] = c3 * third_x - s3 * third_y;
      v[q + 3 * parts] = c3 * third_y + s3 * third_x;
    }
  }
}

void transform_by_two(SplitNumbers from, SplitNumbers to, std::size_t parts) {
  const double* __restrict x = from.real;
  const double* __restrict y = from.imaginary;
  double* __restrict u = to.real;
  double* __restrict v = to.imaginary;
  for (std::size_t q = 0; q < parts; ++q) {
    u[q] = x[q] + x[q + parts];
    v[q] = y[q] + y[q + parts];
    u[q + parts] = x[q] - x[q + parts];
    v[q + parts] = y[q] - y[q + parts];
  }
}

}  // namespace sotto::privacy
