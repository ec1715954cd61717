From Interval Require Import Tactic.
From Odesys Require Import sequences.

(* N labels that are 1 or -1 with probability 1/2 each: k of them are 1 with probability C(N, k)/2^N. The probability that
   fewer than N/4 or more than 3N/4 are 1 is at most 2 e^(-N/8); with N >= 8 log(4/delta) it is at most delta/2. *)
Definition outside (N k : nat) : R :=
  if Rlt_dec (4 * INR k) (INR N) then 1 else if Rlt_dec (3 * INR N) (4 * INR k) then 1 else 0.
Definition probability (N : nat) : R := sum_f_R0 (fun k => outside N k * C N k) N / 2 ^ N.

Lemma C_positive : forall n k, 0 <= C n k.
Proof.
  intros n k. unfold C. assert (A := lt_INR 0 _ (lt_O_fact n)). assert (B := lt_INR 0 _ (lt_O_fact k)).
  assert (D := lt_INR 0 _ (lt_O_fact (n - k))). simpl in *.
  unfold Rdiv. apply Rmult_le_pos; [ lra | apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; assumption ].
Qed.

Lemma power_of_exp : forall x n, exp x ^ n = exp (INR n * x).
Proof.
  intros x n; induction n as [|n E]; [ simpl; rewrite Rmult_0_l, exp_0; reflexivity | ].
  rewrite S_INR. simpl. rewrite E, <- exp_plus. f_equal. ring.
Qed.

Lemma chernoff : forall N k, (k <= N)%nat ->
  outside N k <= exp (- (INR N / 4)) *
    (exp (1 / 2) ^ k * exp (- (1 / 2)) ^ (N - k) + exp (- (1 / 2)) ^ k * exp (1 / 2) ^ (N - k)).
Proof.
  intros N k K. rewrite !power_of_exp, <- !exp_plus, Rmult_plus_distr_l, <- !exp_plus, minus_INR by exact K.
  assert (P : forall x, 0 <= x -> 1 <= exp x) by (intros x H; assert (G := exp_at_least x); lra).
  assert (A := exp_pos (- (INR N / 4) + (INR k * (1 / 2) + (INR N - INR k) * - (1 / 2)))).
  assert (B := exp_pos (- (INR N / 4) + (INR k * - (1 / 2) + (INR N - INR k) * (1 / 2)))).
  unfold outside. destruct (Rlt_dec _ _) as [L|L]; [ | destruct (Rlt_dec _ _) as [H|H]; [ | lra ] ].
  - assert (Q := P (- (INR N / 4) + (INR k * - (1 / 2) + (INR N - INR k) * (1 / 2))) ltac:(lra)). lra.
  - assert (Q := P (- (INR N / 4) + (INR k * (1 / 2) + (INR N - INR k) * - (1 / 2))) ltac:(lra)). lra.
Qed.

Lemma moment : (exp (1 / 2) + exp (- (1 / 2))) / 2 <= exp (1 / 8).
Proof. interval with (i_prec 60). Qed.

Theorem tails : forall N, probability N <= 2 * exp (- (INR N / 8)).
Proof.
  intro N. unfold probability.
  assert (A : sum_f_R0 (fun k => outside N k * C N k) N <= exp (- (INR N / 4)) * (2 * (exp (1 / 2) + exp (- (1 / 2))) ^ N)).
  { replace (2 * (exp (1 / 2) + exp (- (1 / 2))) ^ N)
      with ((exp (1 / 2) + exp (- (1 / 2))) ^ N + (exp (- (1 / 2)) + exp (1 / 2)) ^ N)
      by (rewrite (Rplus_comm (exp (- (1 / 2)))); ring).
    rewrite !binomial, <- plus_sum, scal_sum. apply sum_Rle. intros k K.
    assert (H := chernoff N k K). assert (P := C_positive N k).
    apply Rmult_le_compat_r with (r := C N k) in H; [ | exact P ]. eapply Rle_trans; [ exact H | right; ring ]. }
  assert (T : 0 < 2 ^ N) by (apply pow_lt; lra).
  apply Rmult_le_reg_r with (2 ^ N); [ exact T | ].
  match goal with |- ?x / ?y * ?y <= _ => replace (x / y * y) with x by (field; lra) end.
  eapply Rle_trans; [ exact A | ].
  assert (M : (exp (1 / 2) + exp (- (1 / 2))) ^ N <= exp (1 / 8) ^ N * 2 ^ N).
  { rewrite <- Rpow_mult_distr. apply pow_incr. assert (X := exp_pos (1 / 2)). assert (Y := exp_pos (- (1 / 2))).
    assert (Z := moment). lra. }
  rewrite power_of_exp in M. assert (E := exp_pos (- (INR N / 4))).
  apply Rle_trans with (exp (- (INR N / 4)) * (2 * (exp (INR N * (1 / 8)) * 2 ^ N))); [ apply Rmult_le_compat_l; lra | ].
  right. replace (- (INR N / 8)) with (- (INR N / 4) + INR N * (1 / 8)) by field. rewrite exp_plus. ring.
Qed.

Theorem classes_are_balanced : forall (N : nat) (delta : R), 0 < delta -> enough delta <= INR N -> probability N <= delta.
Proof.
  intros N delta D H. eapply Rle_trans; [ apply tails | ]. unfold enough in H.
  assert (P : 0 < 4 / delta) by (unfold Rdiv; pos).
  assert (L : ln (4 / delta) <= INR N / 8) by (match type of H with ?x <= _ => replace x with (8 * ln (4 / delta)) in H by (f_equal; f_equal; unfold Rdiv; ring) end; lra).
  assert (E : exp (- (INR N / 8)) <= delta / 4).
  { apply Rle_trans with (exp (- ln (4 / delta))).
    - destruct L as [L|L]; [ apply Rlt_le, exp_increasing; lra | rewrite L; lra ].
    - rewrite exp_Ropp, exp_ln by exact P. right. field. lra. }
  lra.
Qed.
