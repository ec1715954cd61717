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
