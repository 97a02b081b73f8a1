"""Private sums: from a budget to the plan of every round, what devices send, and the protocol that adds it up unseen.

`calibrated_plan` finds the noise; `Plan.encode` is a device's side, `Decoder` the server's; `Server` and `Client` are the
protocol's machines, bytes in and bytes out; `modular_sum` is what they compute, for simulations.
"""

from ._core.secagg import (
    CalibratedPlan,
    Client,
    Decoder,
    Identity,
    Plan,
    Server,
    calibrated_plan,
    modular_sum,
)

__all__ = ["CalibratedPlan", "Client", "Decoder", "Identity", "Plan", "Server", "calibrated_plan", "modular_sum"]
