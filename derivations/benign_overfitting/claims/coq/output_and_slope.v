From Odesys Require Import sequences.

(* the output of a sample is p V + total q v: attention p >= 2/3 on the signal, q on the other tokens, with values v of
   size at most V/(3M) *)
Theorem output_is_between : forall (n : nat) (q v : nat -> R) (p V M : R),
  1 <= M -> 0 <= V -> 2 / 3 <= p -> (forall j, (j < n)%nat -> 0 <= q j /\ Rabs (v j) <= least V M) ->
  p + total n q = 1 ->
  V / 2 <= p * V + total n (fun j => q j * v j) <= V /\
  C_16 / exp V <= / (1 + exp (p * V + total n (fun j => q j * v j))) <= / exp (V / 2).
Proof.
  intros n q v p V M HM HV HP H S.
  assert (B : 0 <= least V M <= V / 3).
  { unfold least. assert (0 < / M <= 1).
    { split; [ apply Rinv_0_lt_compat; lra | ]. apply Rmult_le_reg_r with M; [ lra | rewrite Rinv_l by lra; lra ]. }
    split; nra. }
  assert (T : - (total n q * least V M) <= total n (fun j => q j * v j) <= total n q * least V M).
  { replace (- (total n q * least V M)) with (total n (fun j => - least V M * q j)) by (rewrite total_scaled; ring).
    replace (total n q * least V M) with (total n (fun j => least V M * q j)) by (rewrite total_scaled; ring).
    split; apply total_at_most; intros j J; destruct (H j J) as [Q W]; apply within in W; nra. }
  set (f := p * V + total n (fun j => q j * v j)) in *.
  assert (N : 0 <= total n q).
  { replace 0 with (total n (fun _ => 0)) by (rewrite total_constant; ring). apply total_at_most. intros j J. apply (H j J). }
  assert (F : V / 2 <= f <= V).
  { replace (total n q) with (1 - p) in T, N by lra. unfold f. split; nra. }
  split; [ exact F | ].
  assert (mono : forall x y, x <= y -> exp x <= exp y).
  { intros x y [L|L]; [ apply Rlt_le, exp_increasing, L | subst; lra ]. }
  assert (E1 := mono _ _ (proj1 F)). assert (E2 := mono _ _ (proj2 F)). assert (E3 := mono 0 V HV). rewrite exp_0 in E3.
  assert (P := exp_pos (V / 2)). assert (Q := exp_pos f). split.
  - replace (C_16 / exp V) with (/ (2 * exp V)) by (unfold C_16; field; lra). apply Rinv_le_contravar; lra.
  - apply Rinv_le_contravar; lra.
Qed.
