"""The layer of attention that arguments speak of: runs of it exist, so that theorems about them are not empty."""

from pathlib import Path

from tests.coq import needs_coq, said_of

RUNS = """From Coq Require Import Reals Lra Lia.
From Odesys Require Import prelude sequences lengths matrices attention.
Open Scope R_scope.

Section one_run.
Variables (d ma mb m : nat) (slope : weights -> sample -> R) (eta : R).
Variables (sizes : nat -> nat) (batches : nat -> nat -> sample).

Definition moved (t : nat) (w : weights) : weights := {|
  WO := fun i x => WO w i x + eta * force_O d ma mb slope (sizes t) (batches t) w i x;
  WV := fun i x => WV w i x + eta * force_V d ma mb m slope (sizes t) (batches t) w i x;
  WK := fun i x => WK w i x + eta * force_K d ma mb m slope (sizes t) (batches t) w i x;
  WQ := fun i x => WQ w i x + eta * force_Q d ma mb m slope (sizes t) (batches t) w i x |}.

Fixpoint after (start : weights) (t : nat) : weights := match t with O => start | S k => moved k (after start k) end.

Theorem runs_exist : forall start, 0 <= eta -> (forall t, batch_admitted d m (sizes t) (batches t)) ->
  exists w, w 0%nat = start /\\ run d ma mb m slope eta eta sizes batches w.
Proof.
  intros start E G. exists (after start). split; [ reflexivity | ].
  split; [ exact E | split; [ lra | split; [ exact G | ] ] ]. intros t i x. repeat split; reflexivity.
Qed.
End one_run.

(* a sample of one token of length 1 with one neuron *)
Theorem samples_exist :
  admitted 1 1 {| size := 1; count := fun _ => 1; token := fun _ _ => 1; label := 1; out := fun _ _ => 1 |}.
Proof.
  assert (N : forall n, n = 1%nat -> norm n (fun _ => 1) <= 1).
  { intros n ->. unfold norm, inner. simpl. replace (0 + 1 * 1) with 1 by ring. rewrite sqrt_1. lra. }
  repeat split; simpl; try lia; try lra; try (apply N; reflexivity). rewrite Rabs_R1. lra.
Qed.

Definition all_claims := (runs_exist, samples_exist).
Print Assumptions all_claims.
"""


@needs_coq
def test_runs_of_a_layer_exist(tmp_path: Path) -> None:
    assert said_of(RUNS, tmp_path).why == ""


@needs_coq
def test_a_layer_that_moves_by_more_than_its_forces_is_no_run(tmp_path: Path) -> None:
    longer = RUNS.replace("WO w i x + eta * force_O", "WO w i x + 2 * eta * force_O")
    assert longer != RUNS
    assert said_of(longer, tmp_path).why.startswith("runs_exist: ")
