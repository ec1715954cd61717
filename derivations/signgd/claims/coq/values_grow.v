From Odesys Require Import sequences.

(* v is the mean value along y_i xi_i (Eq. (15)), norm is |xi_i|_1 and size sigma_p s; b is beta_xi m_v^(-1/2) *)
Lemma root_of_two : 14 / 10 < sqrt 2 < 15 / 10 /\ sqrt 2 * sqrt 2 = 2.
Proof.
  assert (S := sqrt_sqrt 2 ltac:(lra)). assert (P := sqrt_pos 2). repeat split; nra.
Qed.

Lemma start_at_T_1 : forall (t : nat) eta b size, 0 < eta -> 0 < size -> T_1 b eta size <= INR t ->
  4 * b <= INR t * (eta * size).
Proof.
  intros t eta b size E HS late. unfold T_1 in late.
  assert (P : 0 < eta * size) by (apply Rmult_lt_0_compat; assumption).
  apply Rmult_le_compat_r with (r := eta * size) in late; [ | lra ].
  match type of late with ?x <= _ => replace x with (4 * b) in late by (field; lra) end. exact late.
Qed.

Theorem from_T_1_on : forall (v : nat -> R) (eta b norm size : R),
  0 < eta -> 0 < b -> 0 < size -> (forall k, v (S k) = v k + 2 * eta * norm) ->
  Rabs (v 0%nat) <= start b -> size / sqrt 2 <= norm -> norm <= size ->
  forall t, T_1 b eta size <= INR t ->
  linear (INR t) eta size <= v t /\ v t <= 3 * linear (INR t) eta size /\
  (norm <= 81 / 100 * size -> v t <= 2 * linear (INR t) eta size).
Proof.
  intros v eta b norm size E HB HS step first low high t late.
  assert (K := start_at_T_1 t eta b size E HS late).
  assert (V := steps_equal v (2 * eta * norm) step t). apply within in first.
  destruct root_of_two as [[A B] Q]. assert (T := pos_INR t).
  assert (first' : - (sqrt 2 * b) <= v 0%nat <= sqrt 2 * b) by (unfold start in first; lra).
  assert (L : size * sqrt 2 / 2 <= norm).
  { replace (size * sqrt 2 / 2) with (size / sqrt 2 * (sqrt 2 * sqrt 2) / 2) by (field; lra). rewrite Q. lra. }
  set (u := INR t * eta) in *. assert (U : 0 <= u) by (unfold u; nra).
  assert (M1 : u * (size * sqrt 2 / 2) <= u * norm) by (apply Rmult_le_compat_l; assumption).
  assert (M2 : u * norm <= u * size) by (apply Rmult_le_compat_l; assumption).
  replace (INR t * (eta * size)) with (u * size) in K by (unfold u; ring).
  replace (INR t * (2 * eta * norm)) with (2 * (u * norm)) in V by (unfold u; ring).
  assert (X : 0 <= u * size) by nra. set (y := u * size) in *.
  replace (linear (INR t) eta size) with y by (unfold linear, y, u; ring).
  replace (u * (size * sqrt 2 / 2)) with (y * sqrt 2 / 2) in M1 by (unfold y; field).
  assert (C1 : b * sqrt 2 <= y / 4 * sqrt 2) by (apply Rmult_le_compat_r; lra).
  assert (C2 : y * (14 / 10) <= y * sqrt 2) by (apply Rmult_le_compat_l; lra).
  assert (C3 : y * sqrt 2 <= y * (15 / 10)) by (apply Rmult_le_compat_l; lra).
  repeat split; try lra.
  intro near. assert (M3 : u * norm <= u * (81 / 100 * size)) by (apply Rmult_le_compat_l; assumption).
  replace (u * (81 / 100 * size)) with (81 / 100 * y) in M3 by (unfold y; ring). lra.
Qed.
