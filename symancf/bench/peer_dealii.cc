// SPDX-License-Identifier: BSD-3-Clause
/*
 * deal.II on the product that symancf.bench.products measures: what that module compiles and runs.
 *
 *     peer_dealii 20 distorted
 *
 * A tangent of hexahedra with 27 nodes and 27 points on a vector, with FEEvaluation of MatrixFree, by sum
 * factorisation, of W = mu/2 (I1 - 3) - mu ln J + lam/2 ln^2 J at a deformed state: with F^-T = G and H = grad v
 *
 *     dP = mu H + (mu - lam ln J) G H^T G + lam (G : H) G.
 *
 * STORED says what products find at the points: nothing, ln J, also G, or dP/dF (45 numbers); the first three
 * interpolate F where they need it. It prints one JSON object; times are CPU seconds of the thread.
 */
#include <deal.II/base/function.h>
#include <deal.II/base/timer.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/mapping_q1.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/matrix_free/fe_evaluation.h>
#include <deal.II/matrix_free/matrix_free.h>
#include <deal.II/numerics/vector_tools.h>

#if DEAL_II_VECTORIZATION_WIDTH_IN_BITS > 0 /* what Debian's library has of one lane alone; of degree 2 */
#define FE_EVAL_FACTORY_DEGREE_MAX 2
#include <deal.II/matrix_free/evaluation_template_face_factory.templates.h>
#include <deal.II/matrix_free/evaluation_template_factory.templates.h>
#include <deal.II/matrix_free/evaluation_template_factory_hanging_nodes.templates.h>
#include <deal.II/matrix_free/mapping_info.templates.h>
#include <deal.II/matrix_free/matrix_free.templates.h>
#include <deal.II/matrix_free/shape_info.templates.h>
#endif

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <vector>

using namespace dealii;

constexpr double MU = 0.5, LAM = 20.0;
constexpr unsigned int POINTS = 27;
constexpr int SAMPLES = 9;

enum Stored { NOTHING, LOGARITHM, INVERSE, TANGENT };
const char *const NAMES[] = {"nothing", "logarithm", "inverse", "tangent"};

/* The fields of symancf.bench.products: displacement, direction, and what products are summed with. */
class Field : public Function<3> {
public:
  explicit Field(int number) : Function<3>(3), number(number) {}
  double value(const Point<3> &X, const unsigned int c) const override
  {
    const double x = X[0], y = X[1], z = X[2];
    if (number == 0)
      return c == 0 ? 0.1 * std::sin(1.3 * x + 0.4 * y)
             : c == 1 ? 0.08 * x * y + 0.05 * std::sin(z)
                      : 0.06 * std::cos(x + z);
    if (number == 1) return std::sin((7.0 + c) * x + 5.0 * y - 3.0 * z + c);
    return std::cos((4.0 - c) * x - 6.0 * y + 9.0 * z + 2.0 * c);
  }

private:
  const int number;
};

double seconds()
{
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

template <typename Number> class Products {
public:
  using Lanes = VectorizedArray<Number>;
  using Vector = LinearAlgebra::distributed::Vector<Number>;
  using Cells = MatrixFree<3, Number, Lanes>;
  using Evaluation = FEEvaluation<3, 2, 3, 3, Number, Lanes>;
  using Two = Tensor<2, 3, Lanes>;

  Products(const Mapping<3> &mapping, const DoFHandler<3> &dofs)
  {
    AffineConstraints<double> none;
    none.close();
    typename Cells::AdditionalData options;
    options.tasks_parallel_scheme = Cells::AdditionalData::none;
    options.mapping_update_flags = update_gradients | update_JxW_values;
    cells.reinit(mapping, dofs, none, QGauss<1>(3), options);
    for (Vector *vector : {&u, &v, &w, &f}) cells.initialize_dof_vector(*vector);
    Vector *const filled[] = {&u, &v, &w};
    for (int k = 0; k < 3; k++) {
      LinearAlgebra::distributed::Vector<double> values(dofs.n_dofs());
      VectorTools::interpolate(mapping, dofs, Field(k), values);
      for (unsigned int i = 0; i < dofs.n_dofs(); i++) (*filled[k])(i) = Number(values(i));
      filled[k]->update_ghost_values();
    }
    store();
  }

  template <Stored stored> void apply(Vector &to, const Vector &from) const
  {
    cells.cell_loop(&Products::local<stored>, this, to, from, true);
  }

  /* Print time of a product and two sums of it. */
  template <Stored stored> void measure(const char *precision)
  {
    apply<stored>(f, v);
    std::vector<double> samples;
    for (int k = 0; k < SAMPLES; k++) {
      const double start = seconds();
      apply<stored>(f, v);
      samples.push_back(seconds() - start);
    }
    std::sort(samples.begin(), samples.end());
    std::cout << ", \"" << precision << "_" << NAMES[stored] << "\": {\"seconds\": " << samples[SAMPLES / 2]
              << ", \"norm\": " << double(f.l2_norm()) << ", \"sum\": " << double(f * w) << "}";
  }

private:
  Cells cells;
  Vector u, v, w, f;
  AlignedVector<Lanes> logarithm, inverse, tangent;

  Two stress(const Two &H, const Two &G, const Lanes &log_J) const
  {
    const Lanes trace = scalar_product(G, H), first = Number(MU) - Number(LAM) * log_J;
    const Two GHG = G * Two(transpose(H) * G);
    return Number(MU) * H + first * GHG + (Number(LAM) * trace) * G;
  }

  static Two plus_one(Two H)
  {
    for (int i = 0; i < 3; i++) H[i][i] += Number(1.0);
    return H;
  }

  void store()
  {
    const std::size_t points = std::size_t(cells.n_cell_batches()) * POINTS;
    logarithm.resize(points);
    inverse.resize(9 * points);
    tangent.resize(45 * points);
    Evaluation at(cells);
    for (unsigned int cell = 0; cell < cells.n_cell_batches(); cell++) {
      at.reinit(cell);
      at.read_dof_values(u);
      at.evaluate(EvaluationFlags::gradients);
      for (unsigned int q = 0; q < POINTS; q++) {
        const std::size_t point = std::size_t(cell) * POINTS + q;
        const Two F = plus_one(at.get_gradient(q));
        const Two G = transpose(invert(F));
        logarithm[point] = std::log(determinant(F));
        for (int k = 0; k < 9; k++) inverse[9 * point + k] = G[k / 3][k % 3];
        for (int k = 0, row = 0; row < 9; row++) {
          Two H;
          H[row / 3][row % 3] = Number(1.0);
          const Two column = stress(H, G, logarithm[point]);
          for (int other = row; other < 9; other++) tangent[45 * point + k++] = column[other / 3][other % 3];
        }
      }
    }
  }

  template <Stored stored>
  void local(const Cells &data, Vector &to, const Vector &from, const std::pair<unsigned int, unsigned int> &range) const
  {
    Evaluation direction(data), state(data);
    for (unsigned int cell = range.first; cell < range.second; cell++) {
      direction.reinit(cell);
      direction.read_dof_values(from);
      direction.evaluate(EvaluationFlags::gradients);
      if (stored <= LOGARITHM) {
        state.reinit(cell);
        state.read_dof_values(u);
        state.evaluate(EvaluationFlags::gradients);
      }
      for (unsigned int q = 0; q < POINTS; q++) {
        const std::size_t point = std::size_t(cell) * POINTS + q;
        const Two H = direction.get_gradient(q);
        if (stored == TANGENT) {
          Two dP;
          const Lanes *entry = &tangent[45 * point];
          for (int row = 0; row < 9; row++) {
            dP[row / 3][row % 3] += *entry++ * H[row / 3][row % 3];
            for (int other = row + 1; other < 9; other++, entry++) {
              dP[row / 3][row % 3] += *entry * H[other / 3][other % 3];
              dP[other / 3][other % 3] += *entry * H[row / 3][row % 3];
            }
          }
          direction.submit_gradient(dP, q);
          continue;
        }
        Two G;
        Lanes log_J;
        if (stored == INVERSE) {
          for (int k = 0; k < 9; k++) G[k / 3][k % 3] = inverse[9 * point + k];
          log_J = logarithm[point];
        } else {
          const Two F = plus_one(state.get_gradient(q));
          G = transpose(invert(F));
          log_J = stored == LOGARITHM ? logarithm[point] : std::log(determinant(F));
        }
        direction.submit_gradient(stress(H, G, log_J), q);
      }
      direction.integrate(EvaluationFlags::gradients);
      direction.distribute_local_to_global(to);
    }
  }
};

template <typename Number> void measure(const Mapping<3> &mapping, const DoFHandler<3> &dofs, const char *precision)
{
  Products<Number> products(mapping, dofs);
  products.template measure<NOTHING>(precision);
  products.template measure<LOGARITHM>(precision);
  products.template measure<INVERSE>(precision);
  products.template measure<TANGENT>(precision);
}

int main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  const unsigned int n = std::stoi(argv[1]);
  Triangulation<3> mesh;
  GridGenerator::subdivided_hyper_cube(mesh, n);
  if (argc > 2)
    GridTools::transform(
        [](const Point<3> &s) {
          return Point<3>(s[0] + 0.2 * s[1] * s[2], s[1] + 0.1 * s[0] * s[2], s[2] + 0.3 * s[0] * s[1] * s[2]);
        },
        mesh);
  const MappingQ1<3> mapping;
  const FESystem<3> element(FE_Q<3>(2), 3);
  DoFHandler<3> dofs(mesh);
  dofs.distribute_dofs(element);
  std::cout << std::setprecision(17) << "{\"name\": \"deal.II " << DEAL_II_PACKAGE_VERSION << "\", \"lanes\": "
            << VectorizedArray<double>::size() << ", \"unknowns\": " << dofs.n_dofs();
  measure<double>(mapping, dofs, "double");
  measure<float>(mapping, dofs, "single");
  std::cout << "}" << std::endl;
}
