"""Files of proofs say what is printed: quantities by name, all premises; a changed constant or sign is refused."""

from pathlib import Path

import pytest

from odesys.papers.proof_files import file_name
from odesys.papers.registry import find_paper
from odesys.papers.verification import Request, run_command
from tests.coq import needs_coq, said_of

STATED = {
    ("benign_overfitting", "5.4-time"): ["ln (inside C eta mu w v (time k eta eps mu w L - T_2))", "(mu ^ 2)"],
    ("cooccurrence", "H.1"): ["let t := quantile V M (ln (/ delta)) in", "exp (- exponent V M t) <= delta"],
    ("cooccurrence", "F.6-root"): ["Variables r_b r_3 r_1 u w1", "(small : 19 / 20 <= u <= 21 / 20)"],
    ("shallow_vit", "G.2"): [
        "least one_set 0 /\\ least two_sets (sqrt (2 / 5))",
        "~ exists r lambda above, lambda < above",
    ],
    ("shallow_vit", "Eq.35"): ["Theorem runs_from_every_start", "for_small_eta (fun x => forall w T t i"],
    ("shallow_vit", "Eq.42"): ["Theorem runs_from_every_start", "(33 * C) ^ 2 < INR B"],
    ("signgd", "E.7"): [
        "Theorem near_the_start",
        "n ^ 9 <= d",
        "T_2_plus C_1 n m_k delta sigma_0 s eta",
        "T_2_is_before",
    ],
    ("signgd", "4.3(2)"): ["Theorem softmax_stays_at_half", "beta <= beta_bound n (INR m) delta sigma_0 sigma_p s"],
    ("two_mixture", "5.3"): [
        "off_p -> own_on_p ->",
        "Theorem neurons_at_the_end",
        "/ 8 * least * tau <= n_c T1 <= / 16 * tau",
    ],
    ("two_mixture", "6.1"): ["Theorem printed_weights_are_wrong", "Theorem product_is_printed", "orthonormal d K c v"],
    ("two_mixture", "6.1/exists"): ["exists m w_p W_K_p W_Q_p w_m W_K_m W_Q_m", "Theorem vectors_exist"],
    ("two_mixture", "D.3"): ["Theorem crossing_at_T_half : 0 < T_half b /\\ T <= T_half b", "Theorem pattern_persists"],
    ("two_mixture", "D.6"): ["Theorem pattern_persists : forall t, T0 < t <= T1"],
    ("two_mixture", "D.8"): ["Theorem margins_at_the_end : forall t, T0 <= t <= T1"],
}


def exported(paper: str, claim: str, folder: Path) -> str:
    """The text of the file of a claim."""
    assert run_command({paper: find_paper(paper)}, Request([claim], proofs=folder, check=False))
    return (folder / paper / file_name(claim)).read_text("utf-8")


@pytest.mark.parametrize(("paper", "claim"), STATED)
def test_a_file_has_the_printed_statement(tmp_path: Path, paper: str, claim: str) -> None:
    text = exported(paper, claim, tmp_path)
    assert [each for each in STATED[paper, claim] if each not in text] == []


@needs_coq
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("paper", "claim", "printed", "changed"),
    [
        ("benign_overfitting", "5.4-time", "(/ L) * ", ""),  # T_3 without its logarithm is of the printed order
        ("cooccurrence", "H.1", "(sqrt (2 * (V * u)))", "(sqrt (V * u))"),
        (
            "shallow_vit",
            "G.2",
            "above <= product (scaled r x) (scaled r y)",
            "lambda <= product (scaled r x) (scaled r y)",
        ),
        ("signgd", "E.7", "(/ (sqrt s)) * ", ""),
        ("signgd", "4.3(2)", "n ^ 9 <= d", "n ^ 5 <= d"),
        ("two_mixture", "D.4", "let sum := / 8 *", "let sum := / 4 *"),
        ("two_mixture", "D.6", "at_t unit_p_1_m_m < 0", "0 < at_t unit_p_1_m_m"),
        ("two_mixture", "D.8", "2 * b <= at_t margin_1_p_p", "3 * b <= at_t margin_1_p_p"),
        ("two_mixture", "6.1/exists", "vector c v key)) (apply d W_Q", "vector c v query)) (apply d W_Q"),
    ],
)
def test_a_changed_display_does_not_check(tmp_path: Path, paper: str, claim: str, printed: str, changed: str) -> None:
    text = exported(paper, claim, tmp_path)
    assert printed in text
    assert not said_of(text.replace(printed, changed), tmp_path).ok
