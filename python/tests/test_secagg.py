import numpy
import pytest

import sotto
from sotto import secagg


def test_sum_of_encoded_updates_decodes_to_their_mean():
    plan = secagg.Plan(dimension=50, clip=1.0, devices=200, bits=24, noise_multiplier=0.01)
    random = numpy.random.default_rng(2)
    updates = random.normal(size=(200, 50)).astype(numpy.float32)
    updates /= numpy.linalg.norm(updates, axis=1, keepdims=True) * 1.01
    sent = [plan.encode(update) for update in updates]
    decoder = secagg.Decoder(plan)
    decoder.add_group(secagg.modular_sum(sent, plan.bits))
    mean = decoder.decode()
    assert numpy.abs(mean - updates.mean(axis=0)).max() < 6 * plan.sigma_of_mean + 1e-3
    with pytest.raises(sotto.InputError):
        decoder.decode()


def test_noise_is_secret_unless_a_simulation_is_named():
    plan = secagg.Plan(dimension=8, clip=1.0, devices=10, noise_multiplier=1.0)
    update = numpy.zeros(8, numpy.float32)
    assert (plan.encode(update) != plan.encode(update)).any()
    assert (plan.encode(update, simulation_seed=1) == plan.encode(update, simulation_seed=1)).all()


def test_calibrated_plan_holds_what_was_asked_for():
    made = secagg.calibrated_plan(epsilon=4, delta=1e-6, dimension=100, population=1000, cohort=100, rounds=20)
    assert made.server.epsilon <= 4 and made.server.adversary == "server"
    assert made.participations >= 1
    assert made.plan.devices == 100 and made.plan.dimension == 100
    with pytest.raises(sotto.InputError, match="delta"):
        secagg.calibrated_plan(epsilon=4, delta=0.1, dimension=100, population=1000, cohort=100, rounds=20)


def run_protocol(vectors, lost=(), model="semi-honest"):
    """All phases of a round; clients in `lost` vanish before they upload."""
    members = [secagg.Identity() for _ in vectors]
    shape = dict(identities=[member.public_key for member in members], entries=len(vectors[0]), bits=16,
                 corrupted=0.1, dropping=0.2, server_model=model)
    server = secagg.Server(**shape)
    clients = {}
    for i, member in enumerate(members):
        clients[i] = secagg.Client(server.message_for(i), member, minimum_alive=server.minimum_alive, **shape)
        server.receive(i, clients[i].advertise())
    server.close_phase()
    for i in clients:
        server.receive(i, clients[i].share_keys(server.message_for(i)))
    server.close_phase()
    alive = [i for i in clients if i not in lost]
    for i in alive:
        server.receive(i, clients[i].upload(server.message_for(i), vectors[i]))
    server.close_phase()
    if server.phase == "confirming":
        for i in alive:
            server.receive(i, clients[i].confirm_arrivals(server.message_for(i)))
        server.close_phase()
    for i in alive:
        if server.takes_part(i):
            server.receive(i, clients[i].reveal(server.message_for(i)))
    server.close_phase()
    return server


@pytest.mark.parametrize("model", ["semi-honest", "active"])
def test_protocol_sums_what_arrived(model):
    random = numpy.random.default_rng(3)
    vectors = random.integers(0, 1000, (20, 12)).astype(numpy.uint32)
    server = run_protocol(vectors, lost={3, 11}, model=model)
    assert server.phase == "done"
    kept = [i for i in range(20) if i not in (3, 11)]
    assert (server.sum() == vectors[kept].sum(axis=0) % 2**16).all()


def test_hostile_messages_are_errors():
    members = [secagg.Identity() for _ in range(20)]
    shape = dict(identities=[member.public_key for member in members], entries=4, bits=16, corrupted=0.1, dropping=0.2)
    server = secagg.Server(**shape)
    with pytest.raises(sotto.InputError):
        server.receive(0, b"nonsense")
    with pytest.raises(sotto.InputError):
        server.receive(99, b"")
    with pytest.raises(sotto.InputError, match="done"):
        server.sum()
    with pytest.raises(sotto.InputError):
        secagg.Client(b"nonsense", members[0], minimum_alive=2, **shape)
    with pytest.raises(sotto.InputError, match="32"):
        secagg.Server(**{**shape, "identities": [b"short"] * 20})
    client = secagg.Client(server.message_for(1), members[1], minimum_alive=server.minimum_alive, **shape)
    with pytest.raises(sotto.InputError):
        client.reveal(b"out of order")
    assert client.stage == "aborted"
