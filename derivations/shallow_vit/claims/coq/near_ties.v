From Odesys Require Import outputs.

(* 2n + 1 tokens: n of pattern mu_1, one in the middle, n of pattern mu_2; a has the output weights of the positions *)
Definition near_tie (mu_1 mu_2 middle : nat -> R) (a : nat -> nat -> R) (n : nat) (y : R) : sample :=
  {| size := 2 * n + 1; count := fun _ => 1; token := fun s => if Nat.ltb s n then mu_1 else if Nat.eqb s n then middle else mu_2; label := y; out := a |}.

(* the majority of X has pattern 1, that of X' pattern 2: y = 1 and y = -1. For large n no network of T steps has margin 1 on both, and the risk is
   at least p/4 if each of them has the probability p/2; T is at most that of (10), for any eta = x^-5 and any training set *)
Theorem no_margin_on_near_ties : forall (d m_a m_b m : nat) (o v k q c alpha_s x p : R), 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q ->
  0 < c -> 0 < alpha_s -> 0 < x -> 0 <= p ->
  exists many : nat, forall n mu_1 mu_2 a w T, (many <= n)%nat -> norm d mu_1 <= 1 -> norm d mu_2 <= 1 -> (forall l, norm m (a l) <= 1) ->
  trained d m_a m_b m o v k q (eta x) w -> INR T <= steps c alpha_s x ->
  let F X := output d m_a m_b m (w T) X in
  let X := near_tie mu_1 mu_2 mu_1 a n 1 in let X' := near_tie mu_1 mu_2 mu_2 a n (-1) in
  ~ (1 <= label X * F X /\ 1 <= label X' * F X') /\
  p / 4 <= p / 2 * Rmax 0 (1 - label X * F X) + p / 2 * Rmax 0 (1 - label X' * F X').
Proof.
  intros d m_a m_b m o v k q c alpha_s x p N c0 SP X0 P0. set (b := eta x * steps c alpha_s x).
  destruct (longest_not_negative o v k q N b) as (L1 & L2). set (L := longest o v b) in *. set (K := longest_K o v k q b) in *.
  set (most := 3 * L * L * exp (2 * (K * K)) + 2 * (L * L)).
  assert (LL : 0 <= L * L) by (apply Rmult_le_pos; assumption).
  assert (M0 : 0 <= most) by (unfold most; assert (E := exp_pos (2 * (K * K))); assert (0 <= 3 * L * L * exp (2 * (K * K))) by (apply Rmult_le_pos; lra); lra).
  exists (Z.to_nat (up most)). intros n mu_1 mu_2 a w T many T1 T2 A R H F X X'.
  assert (size_n : most <= INR (2 * n + 1)).
  { destruct (archimed most) as (U & _). assert (U0 : (0 <= up most)%Z) by (apply le_IZR; lra).
    apply Rle_trans with (IZR (up most)); [ lra | ]. rewrite <- (Z2Nat.id (up most) U0), <- INR_IZR_INZ. apply le_INR. lia. }
  assert (size_0 : 0 < INR (2 * n + 1)) by (apply lt_0_INR; lia).
  assert (tok : forall r s, norm d r <= 1 -> norm d (if Nat.ltb s n then mu_1 else if Nat.eqb s n then r else mu_2) <= 1).
  { intros r s Z. destruct (Nat.ltb s n); [ assumption | destruct (Nat.eqb s n); assumption ]. }
  assert (g : admitted d m X).
  { repeat split; simpl; try lia; try (rewrite Rabs_R1; lra); try lra; try apply A. apply tok, T1. }
  assert (g' : admitted d m X').
  { repeat split; simpl; try lia; try (rewrite Rabs_left; lra); try lra; try apply A. apply tok, T2. }
  assert (pair : differ_in_one X X' n).
  { repeat split; simpl; try lia. intros s _ D. destruct (Nat.ltb s n); [ reflexivity | ].
    destruct (Nat.eqb_spec s n); [ congruence | reflexivity ]. }
  destruct R as (slope & kappa & sizes & batches & SL & RR & I). assert (e0 : 0 <= eta x) by (destruct RR as (Z & _); exact Z).
  assert (HT : eta x * INR T <= b) by (apply Rmult_le_compat_l; assumption).
  destruct (bounded_run d m_a m_b m slope SL (eta x) kappa sizes batches w o v k q RR N I T b HT T (le_n T)) as (In & _). fold L K in In.
  assert (close := one_token d m_a m_b m (w T) X X' n L L K K g g' (fun _ _ => eq_refl) (fun _ _ => eq_refl) pair (conj L1 (conj L1 (conj L2 L2))) In).
  assert (one : Rabs (F X - F X') <= 1).
  { eapply Rle_trans; [ exact close | ]. fold most. change (INR (size X)) with (INR (2 * n + 1)).
    apply Rmult_le_reg_r with (INR (2 * n + 1)); [ exact size_0 | ]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra. exact size_n. }
  apply within in one. change (label X) with 1. change (label X') with (-1). split; [ lra | ].
  assert (r1 := Rmax_r 0 (1 - 1 * F X)). assert (r2 := Rmax_r 0 (1 - -1 * F X')).
  assert (sum : 1 <= Rmax 0 (1 - 1 * F X) + Rmax 0 (1 - -1 * F X')) by lra.
  replace (p / 2 * Rmax 0 (1 - 1 * F X) + p / 2 * Rmax 0 (1 - -1 * F X')) with (p / 2 * (Rmax 0 (1 - 1 * F X) + Rmax 0 (1 - -1 * F X'))) by ring.
  assert (p / 2 * 1 <= p / 2 * (Rmax 0 (1 - 1 * F X) + Rmax 0 (1 - -1 * F X'))) by (apply Rmult_le_compat_l; lra). lra.
Qed.
