(* portions of all patterns but the first *)
Lemma portions_of_others : forall p kind N, (forall s, (s < size p)%nat -> 0 < count p s) -> total N (fun j => portion p kind (S j)) <= 1.
Proof.
  intros p kind N C. unfold portion, Rdiv. rewrite total_times.
  assert (one : forall k x n, 0 <= x -> total n (fun j => on k (S j) x) <= x - on k 0 x).
  { intros k x n X. assert (H : total n (fun j => on k (S j) x) = if lt_dec 0 k then if le_dec k n then x else 0 else 0).
    { induction n as [|n E]; simpl; [ destruct (lt_dec 0 k), (le_dec k 0); try reflexivity; lia | ]. rewrite E. unfold on.
      destruct (Nat.eq_dec k (S n)), (lt_dec 0 k), (le_dec k n), (le_dec k (S n)); try lia; ring. }
    rewrite H. unfold on. destruct (lt_dec 0 k), (le_dec k n), (Nat.eq_dec k 0); try lia; lra. }
  assert (sum : total N (fun j => tokens p kind (S j)) <= all_tokens p - tokens p kind 0).
  { unfold tokens, all_tokens. rewrite total_swap, <- total_minus. apply total_at_most. intros s S. apply one, Rlt_le, C, S. }
  assert (low : 0 <= total N (fun j => tokens p kind (S j))).
  { apply total_not_negative. intros j _. apply total_not_negative. intros s S. apply on_below, Rlt_le, C, S. }
  set (rest := all_tokens p - tokens p kind 0) in *. destruct (Req_dec rest 0) as [Z|Z]; [ replace (total N _) with 0 by lra; lra | ].
  apply Rmult_le_reg_r with rest; [ lra | ]. rewrite Rmult_assoc, Rinv_l by exact Z. lra.
Qed.

(* all other components of the query together, and each one of the key, with one constant for the whole batch *)
Theorem components_below_the_first : forall d m_a m_b m M slope B batch kind mu w a c, (0 < M)%nat ->
  (forall n, (n < B)%nat -> of_patterns M mu (batch n) (kind n)) -> orthonormal d M mu -> 0 < a <= 1 -> 0 <= c < 1 ->
  (orthogonal m_b M (key_of d mu w) -> other_logits_equal d m_b M mu w -> driven_by_first d m_a m_b m slope B batch kind w c ->
    attended_at_least d m_b B batch kind w a ->
    (forall n, (n < B)%nat -> 0 <= G d m_a m_b m slope batch kind w n 0 0) /\
    total (M - 1) (fun l => Rabs (gamma' d m_a m_b m slope B batch mu w (S l))) <= query_bound a c * K_t d m_a m_b m slope B batch mu w) /\
  (forall L g, orthogonal m_b M (query_of d mu w) -> features_of_one_length d m_b M mu w L -> same_neurons d m_a m_b m slope B batch kind w g ->
    first_drives M B c g -> first_fraction_at_least B batch kind a ->
    (forall n, (n < B)%nat -> 0 <= G d m_a m_b m slope batch kind w n 0 0) /\
    forall l, (0 < l < M)%nat -> Rabs (gamma d m_a m_b m slope B batch mu w l) <= key_bound a c (exp L) * Q_t d m_a m_b m slope B batch mu w).
Proof.
  intros d m_a m_b m M slope B batch kind mu w a c some patterns normal a0 cr.
  assert (C : forall n s, (n < B)%nat -> (s < size (batch n))%nat -> 0 < count (batch n) s) by (intros n s N S1; apply (patterns n N s S1)).
  split.
  - intros orth eqs drv att. assert (one := query_of_sample d m_a m_b m M slope B batch kind mu w patterns some a c (proj1 a0) cr eqs drv att).
    destruct (other_components_of_the_query d m_a m_b m M slope B batch kind mu w patterns normal some a c (proj1 a0) cr orth eqs drv att) as [E H].
    cbv beta in one, E, H. split; [ intros n N; apply (one n N) | ]. rewrite E.
    assert (qb : 0 <= query_bound a c) by (apply query_bound_not_negative; assumption).
    set (K := fun n => G d m_a m_b m slope batch kind w n 0 0) in *.
    apply Rle_trans with (total (M - 1) (fun l => query_bound a c * mean B (fun n => Rabs (K n) * portion (batch n) (kind n) (S l)))).
    { apply total_at_most. intros l L. apply H. lia. }
    rewrite total_scaled. apply Rmult_le_compat_l; [ exact qb | ]. unfold mean. rewrite total_scaled, total_swap. fold (mean B K).
    fold (mean B (fun n => total (M - 1) (fun l => Rabs (K n) * portion (batch n) (kind n) (S l)))). apply mean_at_most. intros n N.
    destruct (one n N) as [P _]. fold (K n) in P. rewrite total_scaled, Rabs_right by lra. rewrite <- (Rmult_1_r (K n)) at 2. apply Rmult_le_compat_l; [ exact P | ].
    apply portions_of_others. intros s S1. apply C; assumption.
  - intros L g orth feat neur drv frac. assert (one := key_of_sample d m_a m_b m M slope B batch kind mu w patterns some a c L g (proj1 a0) cr feat neur drv frac).
    destruct (other_components_of_the_key d m_a m_b m M slope B batch kind mu w patterns normal some a c L g (proj1 a0) cr orth feat neur drv frac) as [E H].
    cbv beta in one, E, H. split; [ intros n N; apply (one n N) | ]. intros l Ll. rewrite E. eapply Rle_trans; [ apply H, Ll | ].
    assert (x0 := exp_pos L). apply Rmult_le_compat_l.
    { apply key_bound_not_negative; [ apply a0 | assumption | assumption ]. }
    apply mean_at_most. intros n N. destruct (one n N) as [P _]. rewrite Rabs_right by lra.
    rewrite <- (Rmult_1_r (G d m_a m_b m slope batch kind w n 0 0)) at 2. apply Rmult_le_compat_l; [ exact P | ].
    apply (portion_not_negative M B batch kind mu patterns); [ exact N | lia ].
Qed.
