"""A program as a user would write it, for the type checker."""

import numpy as np
import steadfold as sf


def total(x: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float:
    sums = sf.sum(x, axis=(0, 1), keepdims=True, method=sf.binned(bins=4), weights=[1.0, 2.0], where=x > 0)
    plan: sf.Plan = sf.plan().sum(x, axis=0, method="tree")
    bundle = sf.Bundle()
    member: sf.Member = bundle.dot(x, x, keepdims=True)
    bundle.run()
    request: sf.Request = sf.start(sf.Team(1)[0]).sum(x)
    request.wait(timeout=1.0)
    accumulator = sf.Accumulator((3,), dtype=np.float32, products=True)
    accumulator.add(x, weights=x)
    accumulator += accumulator.copy()
    numbers = sf.statistics(x)
    assert numbers is not None
    layout = sf.Layout.grid([4, 4], [2, 2])
    product = sf.reduce(x, np.matmul, layout=layout)
    return float(sums) + float(plan.run()) + float(member.value) + float(numbers.mean) + float(np.sum(product))
