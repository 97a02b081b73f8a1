"""What a plan costs, what noise a budget needs; mechanisms, ledger, claims and audits."""

from __future__ import annotations

from ._core.privacy import (
    Claim,
    ExponentialMechanism,
    GaussianMechanism,
    Guarantee,
    LaplaceMechanism,
    Ledger,
    PlanAnswer,
    RandomisedResponse,
    account as _account,
    audit,
    audits,
    calibrate as _calibrate,
    claims,
    clip_coordinates,
    clip_l1,
    clip_l2,
    epsilon as _epsilon,
    gaussian_delta,
    plan_settings,
    read_statement,
)
from ._settings import Value, documented

__all__ = [
    "Claim",
    "ExponentialMechanism",
    "GaussianMechanism",
    "Guarantee",
    "LaplaceMechanism",
    "Ledger",
    "PlanAnswer",
    "RandomisedResponse",
    "account",
    "audit",
    "audits",
    "calibrate",
    "claims",
    "clip_coordinates",
    "clip_l1",
    "clip_l2",
    "epsilon",
    "gaussian_delta",
    "plan_settings",
    "read_statement",
]


@documented(plan_settings())
def account(**plan: Value) -> PlanAnswer:
    """What a plan costs, against the server and against everybody else.

    >>> account(noise=1.1, sampling="poisson", population=60000, cohort=256, rounds=1000, delta=1e-5).published.method
    'pld'
    """
    return _account(**plan)


@documented(plan_settings())
def epsilon(**plan: Value) -> float:
    """The epsilon of a plan against everybody who sees what is published: what `account` bounds from above, sooner.

    `account` proves a bound from below as well and refines until the two meet, so that its answer may be a little lower.

    >>> round(epsilon(noise=1.0, delta=1e-5), 3)
    4.377
    """
    return _epsilon(**plan)


@documented(plan_settings())
def calibrate(*, epsilon: float, against: str = "published", **plan: Value) -> float:
    """The smallest noise with which a plan stays within epsilon: never less than needed, at most 0.01 % more.

    `against`: published, or server, for plans that cap participations.

    >>> round(calibrate(epsilon=1, delta=1e-5), 3)
    3.731
    """
    return _calibrate(epsilon, against, **plan)
