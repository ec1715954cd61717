
(* Definition 1 at delta = tau = 0: alpha is |S_1|/|S| of every sample, Q the length of q_1; p_n, and phi_n (|S| - |S_1|) *)
Definition p_n (alpha Q : R) : R := alpha * exp (Q * Q) / (alpha * exp (Q * Q) + (1 - alpha)).
Definition rest_n (alpha Q : R) : R := (1 - alpha) / (alpha * exp (Q * Q) + (1 - alpha)).

(* the right side of (34) *)
Definition printed_34 (m : nat) (xi h alpha : R) (T : nat) (Q : nat -> R) : R :=
  xi / sqrt (INR m) * (h * INR T ^ 2 * alpha) * (/ 4 * (alpha * INR m / sqrt (INR m) * p_n alpha (Q T))) + xi.

(* the bracket that (56), (133), (136) and (155) share, at sigma = tau = 0: h is eta, beta the share of samples with y = 1, f is m in
   (56) and 1 in the others; the factor p_n(t) of (56) is lost in the others *)
Definition bracket (m : nat) (xi h alpha beta f : R) (T b : nat) (Q : nat -> R) : R :=
  xi * h * (INR T + 1) ^ 2 * alpha * INR m / sqrt (INR m) ^ 2 * (/ 4 * (alpha * f * p_n alpha (Q b))) * p_n alpha (Q T) +
  h * INR m * (beta / 2) * total T (fun b => alpha / sqrt (INR m) * p_n alpha (Q (S b))) *
  (xi / sqrt (INR m) * (h * (INR T + 1) ^ 2 * alpha) * (/ 4 * (alpha * INR m / sqrt (INR m) * p_n alpha (Q T)))) ^ 2.

Lemma p_n_range : forall alpha Q, 0 < alpha <= 1 -> alpha <= p_n alpha Q <= 1.
Proof.
  intros alpha Q A. unfold p_n. assert (E : 1 <= exp (Q * Q)) by (assert (X := exp_at_least (Q * Q)); assert (Y := Rle_0_sqr Q); unfold Rsqr in Y; lra).
  assert (D : 0 < alpha * exp (Q * Q) + (1 - alpha)) by nra.
  assert (F : alpha * exp (Q * Q) / (alpha * exp (Q * Q) + (1 - alpha)) * (alpha * exp (Q * Q) + (1 - alpha)) = alpha * exp (Q * Q)) by (field; lra).
  set (e := exp (Q * Q)) in *.
  split; apply Rmult_le_reg_r with (alpha * e + (1 - alpha)); try exact D; rewrite F; [ | lra ].
  assert (0 <= alpha * (1 - alpha) * (e - 1)) by (apply Rmult_le_pos; [ apply Rmult_le_pos | ]; lra). lra.
Qed.

Lemma rest_n_range : forall alpha Q most, 0 < alpha < 1 -> 0 <= Q <= most -> 0 < (1 - alpha) * exp (- (most * most)) <= rest_n alpha Q.
Proof.
  intros alpha Q most A R. unfold rest_n. assert (P := exp_pos (- (most * most))). split; [ nra | ].
  assert (E : exp (Q * Q) <= exp (most * most)) by (apply exp_order; nra). assert (F : exp (most * most) * exp (- (most * most)) = 1).
  { rewrite <- exp_plus. replace (most * most + - (most * most)) with 0 by ring. apply exp_0. }
  assert (I : 1 <= exp (Q * Q)) by (assert (X := exp_at_least (Q * Q)); nra).
  assert (D : 0 < alpha * exp (Q * Q) + (1 - alpha)) by nra. unfold Rdiv. apply Rmult_le_compat_l; [ lra | ].
  rewrite exp_Ropp. apply Rinv_le_contravar; [ exact D | ]. nra.
Qed.

Lemma rest_of : forall alpha Q, 0 < alpha <= 1 -> 1 - p_n alpha Q = rest_n alpha Q.
Proof.
  intros alpha Q A. unfold p_n, rest_n. field. assert (1 <= exp (Q * Q)) by (assert (X := exp_at_least (Q * Q)); assert (Y := Rle_0_sqr Q); unfold Rsqr in Y; lra). nra.
Qed.

Lemma root_of : forall m, (0 < m)%nat -> 0 < sqrt (INR m) /\ sqrt (INR m) * sqrt (INR m) = INR m.
Proof. intros m M. assert (P : 0 < INR m) by (apply lt_0_INR, M). split; [ apply sqrt_lt_R0, P | apply sqrt_sqrt; lra ]. Qed.

Lemma bracket_grows : forall m xi h alpha beta f T b Q, (0 < m)%nat -> 0 < xi -> 0 <= h -> 0 < alpha <= 1 -> 0 <= beta -> 1 <= f ->
  xi * alpha ^ 4 / 4 * (h * INR T ^ 2) <= bracket m xi h alpha beta f T b Q.
Proof.
  intros m xi h alpha beta f T b Q M X H A B F. destruct (root_of m M) as (R & R2). assert (P : 0 < INR m) by (apply lt_0_INR, M).
  assert (N := pos_INR T). unfold bracket. replace (sqrt (INR m) ^ 2) with (INR m) by (simpl; lra).
  assert (first : xi * alpha ^ 4 / 4 * (h * INR T ^ 2) <=
    xi * h * (INR T + 1) ^ 2 * alpha * INR m / INR m * (/ 4 * (alpha * f * p_n alpha (Q b))) * p_n alpha (Q T)).
  { assert (U := p_n_range alpha (Q b) A). assert (V := p_n_range alpha (Q T) A).
    replace (xi * h * (INR T + 1) ^ 2 * alpha * INR m / INR m * (/ 4 * (alpha * f * p_n alpha (Q b))) * p_n alpha (Q T)) with
      (xi * alpha / 4 * (h * (INR T + 1) ^ 2) * (alpha * (f * p_n alpha (Q b)) * p_n alpha (Q T))) by (field; lra).
    replace (xi * alpha ^ 4 / 4 * (h * INR T ^ 2)) with (xi * alpha / 4 * (h * INR T ^ 2) * (alpha * alpha * alpha)) by field.
    assert (T2 : INR T ^ 2 <= (INR T + 1) ^ 2) by nra. assert (0 <= INR T ^ 2) by nra.
    assert (W : alpha <= f * p_n alpha (Q b)) by nra. assert (aa : 0 < alpha * alpha) by nra.
    assert (Y : alpha * alpha * alpha <= alpha * (f * p_n alpha (Q b)) * p_n alpha (Q T)).
    { apply Rmult_le_compat; try lra. apply Rmult_le_compat_l; lra. }
    assert (0 <= xi * alpha / 4) by nra.
    apply Rmult_le_compat; [ apply Rmult_le_pos; [ lra | apply Rmult_le_pos; lra ] | nra | | exact Y ].
    apply Rmult_le_compat_l; [ lra | ]. apply Rmult_le_compat_l; lra. }
  assert (second : 0 <= h * INR m * (beta / 2) * total T (fun b => alpha / sqrt (INR m) * p_n alpha (Q (S b))) *
    (xi / sqrt (INR m) * (h * (INR T + 1) ^ 2 * alpha) * (/ 4 * (alpha * INR m / sqrt (INR m) * p_n alpha (Q T)))) ^ 2).
  { apply Rmult_le_pos; [ | apply pow2_ge_0 ]. apply Rmult_le_pos; [ apply Rmult_le_pos; [ apply Rmult_le_pos; lra | lra ] | ].
    apply total_not_negative. intros j _. assert (U := p_n_range alpha (Q (S j)) A). apply Rmult_le_pos; [ | lra ].
    unfold Rdiv. apply Rmult_le_pos; [ lra | apply Rlt_le, Rinv_0_lt_compat, R ]. }
  lra.
Qed.

(* what is bounded stays below what has eta T^2 as a factor *)
Lemma square_outgrows : forall most f c_1 c_2 alpha_s, 0 <= most -> 0 < f -> 0 < c_1 -> 0 < c_2 -> 0 < alpha_s ->
  for_small_eta (fun x => 1 + c_2 / alpha_s <= x /\ forall T, at_T c_1 c_2 alpha_s x T -> most < f * (eta x * INR T ^ 2)).
Proof.
  intros most f c_1 c_2 alpha_s P F c1 c2 A. assert (D : 0 < c_2 / alpha_s) by (apply Rdiv_lt_0_compat; assumption).
  set (g := f * (c_1 / alpha_s) ^ 2). assert (G : 0 < g) by (apply Rmult_lt_0_compat; [ exact F | apply pow_lt, Rdiv_lt_0_compat; assumption ]).
  assert (Z : 0 <= most / g) by (apply Rmult_le_pos; [ exact P | apply Rlt_le, Rinv_0_lt_compat, G ]).
  exists (1 + c_2 / alpha_s + most / g). intros x X. split; [ lra | ]. intros T (H1 & H2).
  assert (E := square_of_steps c_1 alpha_s x T c1 A ltac:(lra) H1).
  assert (J : g * (most / g) = most) by (field; lra).
  assert (K : g * (1 + most / g) <= g * x) by (apply Rmult_le_compat_l; lra).
  assert (M : g * x <= f * (eta x * INR T ^ 2)) by (unfold g; rewrite Rmult_assoc; apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma for_both : forall A B, for_small_eta A -> for_small_eta B -> for_small_eta (fun x => A x /\ B x).
Proof.
  intros A B (a & HA) (b & HB). exists (Rmax a b). intros x X.
  assert (M := Rmax_l a b). assert (N := Rmax_r a b). split; [ apply HA | apply HB ]; lra.
Qed.
