(* the order of Definition F.1 and the balance of I_2 and I_3, for the sums S_c of g over the classes *)
Definition ordered (S1 S2 S3 S4 : R) : Prop := 0 <= S4 /\ S4 <= S2 /\ S4 <= S3 /\ S2 <= S1 /\ S3 <= S1 /\ S1 <= S2 + S3 + S4.
Definition balanced (S2 S3 : R) : Prop := 0 < S3 /\ / 2 * S3 <= S2 <= 2 * S3.

Lemma quotient_within : forall x s b, 0 < s -> - (b * s) <= x <= b * s -> Rabs (x / s) <= b.
Proof.
  intros x s b P H. apply Rabs_le. assert (I : 0 < / s) by (apply Rinv_0_lt_compat, P).
  assert (E : s * / s = 1) by (apply Rinv_r; lra). unfold Rdiv. nra.
Qed.

(* without o(1) the quotients are within 3; with an o(1) of at most 3/8 in size, times the sum of all g, within the printed 6 *)
Theorem within_three : forall S1 S2 S3 S4, ordered S1 S2 S3 S4 -> balanced S2 S3 ->
  Rabs (printed S1 S2 S3 S4 / S3) <= 3 /\ Rabs (with_third S1 S2 S3 S4 / S3) <= 3.
Proof.
  intros S1 S2 S3 S4 (A & B & C & D & E & F) (P & G). unfold printed, with_third. split; apply quotient_within; lra.
Qed.

Theorem within_six : forall S1 S2 S3 S4 o, ordered S1 S2 S3 S4 -> balanced S2 S3 -> Rabs o <= 3 / 8 ->
  Rabs ((printed S1 S2 S3 S4 + o * (S1 + S2 + S3 + S4)) / S3) <= 6 /\ Rabs ((with_third S1 S2 S3 S4 + o * (S1 + S2 + S3 + S4)) / S3) <= 6.
Proof.
  intros S1 S2 S3 S4 o (A & B & C & D & E & F) (P & G) O.
  assert (o1 : - (3 / 8) <= o <= 3 / 8) by (unfold Rabs in O; destruct (Rcase_abs o); lra).
  assert (all : 0 <= S1 + S2 + S3 + S4 <= 8 * S3) by lra. set (N := S1 + S2 + S3 + S4) in *.
  assert (oN : - (3 * S3) <= o * N <= 3 * S3) by nra.
  unfold printed, with_third. split; apply quotient_within; lra.
Qed.
