"""A parameter study: one cantilever for each stiffness, on two processes."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import symancf as sa


def cantilever(EI: float) -> sa.History:
    """Build the model from its numbers, solve it, return its history."""
    mesh = sa.Mesh.box((1.0,), (4,))
    beam = sa.Body(
        mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e3 * EI, EI=EI, name="beam"
    )
    load = sa.force(beam["x1"], (0.0, 0.0, lambda t: 1e-4 * t))
    problem = sa.StaticProblem(sa.System(beam, terms=[sa.fix(beam["x0"]), load]))
    problem.record("tip", beam["x1"])
    return problem.solve(step=0.5)


if __name__ == "__main__":
    stiffnesses = [1.0, 2.0, 4.0]
    processes = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=processes) as pool:
        histories = list(pool.map(cantilever, stiffnesses))
    table = sa.Table("Load of 0.1 mN at the tip", "EI [N m^2]:g", "sag [um]:.3f")
    for EI, history in zip(stiffnesses, histories, strict=True):
        table.add(EI, 1e6 * history["tip"].ravel()[-1])
    sa.root_print(table)
