import math

import numpy
import pytest
from dp_accounting import pld

import sotto
from sotto import privacy


def test_one_gaussian_release_is_the_closed_form():
    epsilon = privacy.epsilon(noise=1.0, delta=1e-5)
    assert privacy.gaussian_delta(1.0, epsilon) == pytest.approx(1e-5, rel=1e-9)


def test_account_says_what_holds_against_whom():
    plan = dict(noise=1.1, sampling="poisson", population=60000, cohort=256, rounds=1000, delta=1e-5)
    uncapped = privacy.account(**plan)
    assert uncapped.server is None
    assert uncapped.published.epsilon_lower <= uncapped.published.epsilon
    assert "epsilon=" in repr(uncapped.published)
    answer = privacy.account(**plan, participations=20)
    assert uncapped.published.epsilon <= answer.published.epsilon < answer.server.epsilon
    assert answer.published.method == "pld"
    # The chance that the cap matters is charged to delta: a bound from above, and nothing is known from below.
    assert answer.published.epsilon_lower is None
    # A cap that is often reached leaves nothing of the amplification.
    tight = privacy.account(**plan, participations=5)
    assert tight.published.epsilon == tight.server.epsilon


@pytest.mark.parametrize("mechanism, noise, rate, rounds, interval", [
    ("gaussian", 1.0, 0.01, 1, 1e-4), ("gaussian", 1.0, 0.01, 1000, 1e-4), ("gaussian", 2.0, 0.01, 20_000, 1e-4),
    ("laplace", 10.0, 1.0, 100, 1e-4), ("laplace", 1.0, 0.01, 1000, 1e-4)])
def test_epsilon_alone_is_never_below_the_truth_and_close_above(mechanism, noise, rate, rounds, interval):
    build = pld.privacy_loss_distribution.from_gaussian_mechanism if mechanism == "gaussian" else pld.privacy_loss_distribution.from_laplace_mechanism

    def theirs(pessimistic):
        one = build(noise, value_discretization_interval=interval, pessimistic_estimate=pessimistic, sampling_prob=rate)
        return one.self_compose(rounds).get_epsilon_for_delta(1e-6)

    sampled = dict(sampling="poisson", population=1_000_000, cohort=round(rate * 1_000_000)) if rate < 1 else {}
    ours = privacy.epsilon(mechanism=mechanism, noise=noise, rounds=rounds, delta=1e-6, **sampled)
    assert theirs(False) <= ours <= theirs(True) * (1 + 3e-4)


def test_calibrated_noise_meets_the_budget_and_little_more():
    plan = dict(sampling="poisson", population=10000, cohort=100, rounds=100, delta=1e-6)
    noise = privacy.calibrate(epsilon=2, **plan)
    assert privacy.epsilon(noise=noise, **plan) <= 2
    assert privacy.epsilon(noise=noise * 0.999, **plan) > 2


@pytest.mark.parametrize(
    "plan, text",
    [
        (dict(nois=1.0, delta=1e-5), "did you mean 'noise'"),
        (dict(noise=-1.0, delta=1e-5), "noise"),
        (dict(noise=1.0, delta=0), "delta"),
        (dict(noise=1.0, delta=1e-5, sampling="poisson"), "population"),
        (dict(noise=1.0, delta=1e-5, mechanism="magic"), "mechanism"),
    ],
)
def test_refusals_have_the_text_of_the_command_line(plan, text):
    with pytest.raises(sotto.InputError, match=text):
        privacy.epsilon(**plan)
    assert issubclass(sotto.InputError, ValueError)


def test_calibrate_refuses_what_has_no_noise_to_find():
    with pytest.raises(sotto.InputError, match="calibrate finds"):
        privacy.calibrate(epsilon=1, mechanism="pure", delta=1e-6)
    with pytest.raises(sotto.InputError, match="participations"):
        privacy.calibrate(epsilon=1, against="server", delta=1e-6)


def test_settings_stand_in_the_docstring():
    assert "population" in privacy.epsilon.__doc__
    assert "Settings:" in privacy.calibrate.__doc__


def test_mechanisms_add_the_noise_they_promise():
    mechanism = privacy.GaussianMechanism(noise_multiplier=1.0, l2_sensitivity=1.0, dimension=20000)
    noisy = mechanism.release(numpy.zeros(20000), simulation_seed=3)
    assert noisy.std() == pytest.approx(mechanism.sigma, rel=0.05)
    assert mechanism.epsilon(1e-5) == pytest.approx(privacy.epsilon(noise=1.0, delta=1e-5), rel=1e-3)
    again = mechanism.release(numpy.zeros(20000), simulation_seed=3)
    assert (noisy == again).all()
    assert (mechanism.release(numpy.zeros(20000)) != mechanism.release(numpy.zeros(20000))).any()

    laplace = privacy.LaplaceMechanism(epsilon=0.5, l1_sensitivity=1.0, dimension=20000)
    assert numpy.abs(laplace.release(numpy.zeros(20000), simulation_seed=1)).mean() == pytest.approx(laplace.scale, rel=0.05)
    assert laplace.epsilon(1e-9) == pytest.approx(0.5, rel=1e-6)


def test_randomised_response_keeps_as_often_as_it_says():
    response = privacy.RandomisedResponse(epsilon=1.0, categories=4)
    kept = sum(response.respond(2, simulation_seed=seed) == 2 for seed in range(4000)) / 4000
    assert kept == pytest.approx(math.e / (math.e + 3), abs=0.03)
    with pytest.raises(sotto.InputError):
        response.respond(4)


def test_clipping_leaves_a_copy_within_the_bound():
    values = numpy.array([3.0, 4.0])
    clipped = privacy.clip_l2(values, 1.0)
    assert numpy.linalg.norm(clipped) <= 1.0 and (values == [3.0, 4.0]).all()
    with pytest.raises(sotto.InputError):
        privacy.clip_l2(numpy.array([math.nan]), 1.0)


def test_wrong_shapes_are_refused_with_what_is_wrong():
    mechanism = privacy.GaussianMechanism(noise_multiplier=1.0, l2_sensitivity=1.0, dimension=4)
    with pytest.raises(sotto.InputError):
        mechanism.release(numpy.zeros(5))
    with pytest.raises(sotto.InputError, match="2 dimensions: must have 1"):
        mechanism.release(numpy.zeros((2, 2)))


def test_ledger_charges_then_refuses(tmp_path):
    ledger = privacy.Ledger(tmp_path / "ledger.sotto", lifetime_epsilon=1.0, delta=1e-6, first_use=True)
    release = dict(mechanism="pure", epsilon=0.4, delta=1e-6)
    assert not ledger.would_be_refused(**release)
    ledger.charge("front page", **release)
    ledger.charge("front page", **release)
    with pytest.raises(sotto.InputError, match="lifetime"):
        ledger.charge("front page", **release)
    assert ledger.would_be_refused(**release)
    before = ledger.records
    del ledger
    statement = privacy.read_statement(tmp_path / "ledger.sotto")
    assert statement["records"] == before


def test_a_ledger_that_may_have_been_deleted_begins_spent(tmp_path):
    ledger = privacy.Ledger(tmp_path / "ledger.sotto", lifetime_epsilon=1.0)
    with pytest.raises(sotto.InputError):
        ledger.charge("front page", mechanism="pure", epsilon=0.1, delta=1e-6)


def test_audit_refutes_a_wrong_claim_and_no_right_one():
    names = [name for name, _ in privacy.audits()]
    assert len(names) > 10
    with pytest.raises(sotto.InputError, match="audit"):
        privacy.audit(["no such audit"])
    finding = privacy.audit([names[0]], samples=2000, seed=1)[0]
    assert finding["name"] == names[0]
    assert finding["refuted"] <= finding["refutation_expected"]


def test_claims_tell_claimed_from_true():
    claims = privacy.claims()
    assert any(claim.claimed_epsilon and claim.true_epsilon and claim.true_epsilon > 10 * claim.claimed_epsilon
               for claim in claims)
    assert all(len(claim.why) > 0 for claim in claims)
