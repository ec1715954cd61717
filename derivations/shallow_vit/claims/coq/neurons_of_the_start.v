From Odesys Require Import outputs.

(* up to T of (10) the product of a neuron i with a feature p of length at most 1 moves by at most longest/x only, with eta = x^-5 *)
Lemma component_moves : forall d m_a m_b m o v k q c alpha_s x w T t i p, 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < c -> 0 < alpha_s ->
  1 + c / alpha_s <= x -> INR T <= steps c alpha_s x -> trained d m_a m_b m o v k q (eta x) w -> (t <= T)%nat -> (i < m)%nat -> norm m_a p <= 1 ->
  Rabs (inner m_a (WO (w t) i) p - inner m_a (WO (w 0%nat) i) p) <= / x * longest o v 1.
Proof.
  intros d m_a m_b m o v k q c alpha_s x w T t i p N C A X few made L I P.
  destruct (moves_at d m_a m_b m o v k q c alpha_s x w T N C A X few made t L) as (H & _).
  destruct (short_time c alpha_s x T C A X few) as (x1 & _ & y & _). destruct (longest_not_negative o v k q N 1) as (N1 & _).
  assert (F : 0 <= / x * longest o v 1) by (apply Rmult_le_pos; lra). assert (row := row_below m m_a _ _ i F H I).
  replace (inner m_a (WO (w t) i) p - inner m_a (WO (w 0%nat) i) p) with (inner m_a (less (WO (w t)) (WO (w 0%nat)) i) p).
  - eapply Rle_trans; [ apply cauchy_schwarz | ]. rewrite <- (Rmult_1_r (/ x * longest o v 1)). apply Rmult_le_compat; try assumption; apply norm_not_negative.
  - unfold less. apply inner_minus_left.
Qed.

(* w'V_l for a sample whose tokens have the values p_kind: a mean of components, with attention as weights *)
Lemma hidden_of_features : forall d m_a m_b w X p (kind : nat -> nat) l i, (forall s, (s < size X)%nat -> value d w X s = p (kind s)) ->
  hidden d m_a m_b w X l i = total (size X) (fun s => attention d m_b w X s l * inner m_a (WO w i) (p (kind s))).
Proof.
  intros d m_a m_b w X p kind l i V. unfold hidden, mixed, inner.
  rewrite (total_equal m_a _ (fun z => total (size X) (fun s => attention d m_b w X s l * (WO w i z * value d w X s z)))).
  - rewrite total_swap. apply total_equal. intros s S. rewrite total_scaled, (V s S). reflexivity.
  - intros z _. rewrite Rmult_comm, <- total_times. apply total_equal. intros; ring.
Qed.

(* the premises are not empty: from every start there is a run, with W_K and W_Q trained, for every step size and batches, and matrices have norms *)
Lemma norm_below_sum : forall r u, norm r u <= total r (fun i => Rabs (u i)).
Proof.
  induction r as [|r E]; intro u; [ unfold norm, inner; simpl; rewrite sqrt_0; lra | ]. simpl total. specialize (E u).
  assert (N := norm_not_negative r u). assert (S := norm_square r u). assert (A := Rabs_pos (u r)).
  apply Rle_trans with (norm r u + Rabs (u r)); [ | lra ]. unfold norm at 1. rewrite <- (sqrt_pow2 (norm r u + Rabs (u r))) by lra. apply sqrt_le_1_alt.
  unfold inner. simpl total. fold (inner r u u). rewrite <- S. assert (Q : u r * u r = Rabs (u r) * Rabs (u r)) by (rewrite <- Rabs_mult, Rabs_right; [ reflexivity | apply Rle_ge, Rle_0_sqr ]). nra.
Qed.

Lemma some_norm : forall r e W, exists b, 0 <= b /\ at_most r e W b.
Proof.
  intros r e W. exists (total r (fun i => norm e (W i))). split; [ apply total_not_negative; intros; apply norm_not_negative | ].
  intro z. eapply Rle_trans; [ apply norm_below_sum | ]. rewrite <- total_times. apply total_at_most. intros i _. apply cauchy_schwarz.
Qed.

Theorem runs_from_every_start : forall d m_a m_b m (start : weights) (sizes : nat -> nat) (batches : nat -> nat -> sample) h, 0 <= h -> (forall t, batch_admitted d m (sizes t) (batches t)) ->
  exists w o v k q, w 0%nat = start /\ (0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q) /\ trained d m_a m_b m o v k q h w.
Proof.
  intros d m_a m_b m start sizes batches h H A. set (slope := fun (_ : weights) (_ : sample) => 1).
  set (next := fun (t : nat) (u : weights) => {| WO := fun i x => WO u i x + h * force_O d m_a m_b slope (sizes t) (batches t) u i x;
    WV := fun i x => WV u i x + h * force_V d m_a m_b m slope (sizes t) (batches t) u i x;
    WK := fun i x => WK u i x + h * force_K d m_a m_b m slope (sizes t) (batches t) u i x;
    WQ := fun i x => WQ u i x + h * force_Q d m_a m_b m slope (sizes t) (batches t) u i x |}).
  set (w := fix w (t : nat) : weights := match t with O => start | S p => next p (w p) end).
  destruct (some_norm m m_a (WO start)) as (o & O0 & O1). destruct (some_norm m_a d (WV start)) as (v & V0 & V1).
  destruct (some_norm m_b d (WK start)) as (k & K0 & K1). destruct (some_norm m_b d (WQ start)) as (q & Q0 & Q1).
  exists w, o, v, k, q. split; [ reflexivity | split; [ repeat split; assumption | ] ].
  exists slope, h, sizes, batches. split; [ intros; unfold slope; lra | split; [ | repeat split; assumption ] ].
  split; [ exact H | split; [ lra | split; [ exact A | ] ] ]. intros t i x. repeat split; reflexivity.
Qed.
