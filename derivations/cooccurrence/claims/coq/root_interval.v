From Odesys Require Import sequences.

(* a R^2 + b R + c with A_c = - w_c S_c; w_c in [9/10, 1] (exp(-yF) at most 1/10). The printed c has the factors 1 +- epsilon of A_3, 2 +- epsilon of A_1 and
   1 + o(1), which are r_3, 1 + r_1 and u here; the printed b has none, which is r_b = 1, and by (16) it has 1 +- epsilon, too *)
Section quadratic.
Variables r_b r_3 r_1 u w1 w2 w3 w4 S1 S2 S3 S4 : R.
Hypotheses (near_b : 9 / 10 <= r_b <= 11 / 10) (near_3 : 9 / 10 <= r_3 <= 11 / 10) (near_1 : 9 / 10 <= r_1 <= 11 / 10) (small : 19 / 20 <= u <= 21 / 20).
Hypotheses (n1 : 9 / 10 <= w1 <= 1) (n2 : 9 / 10 <= w2 <= 1)
  (n3 : 9 / 10 <= w3 <= 1) (n4 : 9 / 10 <= w4 <= 1).
Hypotheses (some : 0 < S1) (last : 0 <= S4) (low2 : S4 <= S2) (low3 : S4 <= S3) (high2 : S2 <= S1) (high3 : S3 <= S1)
  (order : S1 <= S2 + S3 + S4).
Let A := a r_b r_3 r_1 u w1 w2 w3 w4 S1 S2 S3 S4.
Let B := b r_b r_3 r_1 u w1 w2 w3 w4 S1 S2 S3 S4.
Let C := c r_b r_3 r_1 u w1 w2 w3 w4 S1 S2 S3 S4.

Lemma sizes : A < 0 /\ 0 < A + B + C /\ 4 * A + 2 * B + C < 0 /\ 2 / 3 * A <= B <= - (2 / 3) * A.
Proof.
  assert (P1 : 9 / 10 * S1 <= w1 * S1 <= S1) by (split; nra). assert (P2 : 9 / 10 * S2 <= w2 * S2 <= S2) by (split; nra).
  assert (P3 : 9 / 10 * S3 <= w3 * S3 <= S3) by (split; nra). assert (P4 : 9 / 10 * S4 <= w4 * S4 <= S4) by (split; nra).
  set (p1 := w1 * S1) in *. set (p2 := w2 * S2) in *. set (p3 := w3 * S3) in *. set (p4 := w4 * S4) in *.
  assert (B1 : 9 / 10 * p1 <= r_b * p1 <= 11 / 10 * p1) by (split; apply Rmult_le_compat_r; lra).
  assert (R1 : 9 / 10 * p1 <= r_1 * p1 <= 11 / 10 * p1) by (split; apply Rmult_le_compat_r; lra).
  assert (R3 : 9 / 10 * p3 <= r_3 * p3 <= 11 / 10 * p3) by (split; apply Rmult_le_compat_r; lra).
  set (b1 := r_b * p1) in *. set (q1 := r_1 * p1) in *. set (q3 := r_3 * p3) in *. set (whole := p2 + q3 + p1 + q1).
  assert (U : 19 / 20 * whole <= u * whole <= 21 / 20 * whole) by (split; apply Rmult_le_compat_r; unfold whole; lra).
  replace A with (- p1 - p2) by (unfold A, a, p1, p2; ring).
  replace B with (- p3 - p4 + b1) by (unfold B, b, b1, p1, p3, p4; ring).
  replace C with (u * whole) by (unfold C, c, whole, q1, q3, p1, p2, p3; ring).
  generalize dependent (u * whole). unfold whole. intros C' [U1 U2]. repeat split; lra.
Qed.

Theorem quotient : Rabs (B / A) <= 2 / 3.
Proof.
  destruct sizes as (N & _ & _ & L & U). apply Rabs_le. split; apply Rmult_le_reg_r with (- A); try lra.
  - replace (B / A * - A) with (- B) by (field; lra). lra.
  - replace (B / A * - A) with (- B) by (field; lra). lra.
Qed.

Definition root : R := - B / (2 * A) + sqrt (B ^ 2 / (4 * A ^ 2) - C / A).

Theorem root_is_a_root : A * root ^ 2 + B * root + C = 0.
Proof.
  destruct sizes as (N & F & G & _). unfold root. set (D := B ^ 2 / (4 * A ^ 2) - C / A).
  assert (P : 0 <= D).
  { replace D with ((1 + B / (2 * A)) ^ 2 + (A + B + C) / (- A)) by (unfold D; field; lra).
    assert (0 < (A + B + C) / (- A)) by (unfold Rdiv; apply Rmult_lt_0_compat; [ lra | apply Rinv_0_lt_compat; lra ]).
    assert (0 <= (1 + B / (2 * A)) ^ 2) by apply pow2_ge_0. lra. }
  assert (Q := sqrt_sqrt D P). set (x := sqrt D) in *.
  replace (A * (- B / (2 * A) + x) ^ 2 + B * (- B / (2 * A) + x) + C) with (A * (x * x) - B ^ 2 / (4 * A) + C) by (field; lra).
  rewrite Q. unfold D. field. lra.
Qed.

Theorem root_is_between : 1 < root < 2.
Proof.
  destruct sizes as (N & F & G & L & U). unfold root. set (D := B ^ 2 / (4 * A ^ 2) - C / A). set (h := B / (2 * A)).
  assert (H : - B / (2 * A) = - h) by (unfold h; field; lra). rewrite H.
  assert (low : 0 < D - (1 + h) ^ 2).
  { replace (D - (1 + h) ^ 2) with ((A + B + C) / (- A)) by (unfold D, h; field; lra).
    unfold Rdiv; apply Rmult_lt_0_compat; [ lra | apply Rinv_0_lt_compat; lra ]. }
  assert (high : 0 < (2 + h) ^ 2 - D).
  { replace ((2 + h) ^ 2 - D) with (- (4 * A + 2 * B + C) / (- A)) by (unfold D, h; field; lra).
    unfold Rdiv; apply Rmult_lt_0_compat; [ lra | apply Rinv_0_lt_compat; lra ]. }
  assert (S := quotient). assert (W : B / A = 2 * h) by (unfold h; field; lra). rewrite W in S. apply within in S.
  assert (P : 0 <= D) by (assert (0 <= (1 + h) ^ 2) by apply pow2_ge_0; lra).
  assert (Q := sqrt_sqrt D P). assert (Z := sqrt_pos D). set (x := sqrt D) in *. split; nra.
Qed.
End quadratic.
