From Coq Require Import List.
From Coquelicot Require Import Coquelicot.

(* the share of g that -g' has at the margin u, and how near it is to 1 *)
Definition weight (u : R) : R := / (1 + exp (- u)).
Theorem weight_near_one : forall u, 1 - exp (- u) <= weight u <= 1.
Proof.
  intro u. assert (P := exp_pos (- u)). unfold weight. set (e := exp (- u)) in *.
  assert (I : 0 < / (1 + e)) by (apply Rinv_0_lt_compat; lra). assert (E : (1 + e) * / (1 + e) = 1) by (apply Rinv_r; lra). split; nra.
Qed.

(* sums over the margins of a class: S of g, and -A of -g' = g w; so w_c = -A_c/S_c is between 1 - d and 1, with d = max exp(-yF) *)
Definition g (u : R) : R := / (1 + exp u).
Fixpoint total (f : R -> R) (margins : list R) : R := match margins with nil => 0 | u :: rest => f u + total f rest end.
Theorem class_near_one : forall margins d, (forall u, In u margins -> exp (- u) <= d) ->
  (1 - d) * total g margins <= total (fun u => g u * weight u) margins <= total g margins /\ forall u, is_derive g u (- (g u * weight u)).
Proof.
  intros margins d H. split.
  - induction margins as [|u rest E]; simpl; [ lra | ]. assert (W := weight_near_one u). assert (D := H u (or_introl eq_refl)).
    assert (P : 0 < g u) by (unfold g; assert (Q := exp_pos u); apply Rinv_0_lt_compat; lra). specialize (E (fun x I => H x (or_intror I))). nra.
  - intro u. assert (P := exp_pos u). unfold g, weight. auto_derive; [ lra | ]. rewrite exp_Ropp. field. split; lra.
Qed.

(* a and c are the coefficients of the quadratic, -w_c S_c = A_c is the sum of -g w over a class, and r = (S_1 - S_3)/(S_1 - S_2):
   |c/a + 2| is at most (3 epsilon + d)/(1 - d) *)
Theorem near_minus_two : forall S1 S2 S3 w1 w2 w3 epsilon d, 0 <= S2 < S1 -> 0 <= S3 <= S1 -> 0 <= d < 1 ->
  1 - d <= w1 <= 1 -> 1 - d <= w2 <= 1 -> 1 - d <= w3 <= 1 ->
  let r := (S1 - S3) / (S1 - S2) in Rabs (r - 1) <= epsilon ->
  let quotient := c (- (w1 * S1)) (- (w2 * S2)) (- (w3 * S3)) r / a (- (w1 * S1)) (- (w2 * S2)) in
  Rabs (quotient + 2) <= (3 * epsilon + d) / (1 - d) /\ Rabs (Rabs quotient - 2) <= (3 * epsilon + d) / (1 - d).
Proof.
  intros S1 S2 S3 w1 w2 w3 epsilon d H2 H3 D W1 W2 W3 r near quotient.
  assert (third : S3 = S2 - (r - 1) * (S1 - S2)) by (unfold r; field; lra).
  assert (R1 : - epsilon <= r - 1 <= epsilon) by (unfold Rabs in near; destruct (Rcase_abs (r - 1)); lra).
  set (rho := r - 1) in *. assert (e0 : 0 <= epsilon) by lra.
  assert (x2 : 0 <= (1 - w2) * S2 <= d * S1) by nra. assert (x3 : 0 <= (1 - w3) * S3 <= d * S1) by nra.
  set (m := w1 * S1 + w3 * S3 - (S1 - S2)).
  assert (y1 : 0 <= w1 * S1 <= S1) by nra. assert (y3 : 0 <= w3 * S3 <= S1) by nra.
  assert (M : - (3 * S1) <= m <= 3 * S1) by (unfold m; lra).
  assert (size : - (epsilon * (3 * S1)) <= rho * m <= epsilon * (3 * S1)) by nra.
  assert (above : (1 - d) * S1 <= w1 * S1 + w2 * S2) by nra.
  set (b := (3 * epsilon + d) / (1 - d)). assert (B : b * (1 - d) = 3 * epsilon + d) by (unfold b; field; lra).
  assert (b0 : 0 <= b) by (unfold b; apply Rmult_le_pos; [ lra | apply Rlt_le, Rinv_0_lt_compat; lra ]).
  assert (pos : 0 < w1 * S1 + w2 * S2) by nra.
  assert (Q : quotient + 2 = - (rho * m + (1 - w2) * S2 - (1 - w3) * S3) / (w1 * S1 + w2 * S2)).
  { unfold quotient, c, a, m. rewrite third. replace r with (1 + rho) by (unfold rho; ring). field. lra. }
  assert (within : - b <= quotient + 2 <= b).
  { rewrite Q. set (x := - (rho * m + (1 - w2) * S2 - (1 - w3) * S3)). set (s := w1 * S1 + w2 * S2) in *.
    assert (X : - ((3 * epsilon + d) * S1) <= x <= (3 * epsilon + d) * S1) by (unfold x; lra).
    assert (Y : (3 * epsilon + d) * S1 <= b * s) by (rewrite <- B; nra).
    assert (I : 0 < / s) by (apply Rinv_0_lt_compat, pos). assert (E : s * / s = 1) by (apply Rinv_r; lra).
    unfold Rdiv. split.
    - apply Rmult_le_reg_r with s; [ exact pos | ]. rewrite Rmult_assoc, (Rmult_comm (/ s)), E. lra.
    - apply Rmult_le_reg_r with s; [ exact pos | ]. rewrite Rmult_assoc, (Rmult_comm (/ s)), E. lra. }
  split; [ apply Rabs_le; lra | ]. apply Rabs_le. unfold Rabs. destruct (Rcase_abs quotient); lra.
Qed.
