(* (164) with one Q(t) for the batch fails for every constant: M = 4 orthonormal patterns, the axes, along which keys and queries are orthogonal,
   before the margin of the hinge loss, and Q(t) > 0 *)
Theorem no_constant_for_keys : forall C, exists b many, let B := the_size b in let batch := the_batch b many in
  batch_admitted 4 2 B batch /\ orthonormal 4 4 axis /\ (forall n, (n < B)%nat -> of_patterns 4 axis (batch n) (the_kinds b n)) /\
  orthogonal 4 4 (query_of 4 axis at_start) /\ 0 < Q_t 4 4 4 2 hinge B batch axis at_start /\
  C * mean B (fun n => Q_t 4 4 4 2 hinge B batch axis at_start * portion (batch n) (the_kinds b n) 2) <
    Rabs (gamma 4 4 4 2 hinge B batch axis at_start 2).
Proof.
  intro C. destruct (enough_tokens C) as (b & many & N & H & Cb). exists b, many. intros B batch.
  destruct (half_the_batch b many N H) as (K & L & P). destruct (the_components b many N) as (_ & E1 & _ & E2). fold B in K, L, P, E1, E2. fold batch in E1, E2.
  split; [ apply the_admitted, N | split; [ exact axes | split; [ apply the_patterns, N | split; [ apply features | ] ] ] ].
  rewrite E1, E2. unfold B, batch in *. rewrite (mean_portion b many N). split; [ exact K | ]. rewrite Rabs_right by lra.
  eapply Rlt_le_trans; [ | exact L ]. apply Rmult_lt_compat_r; [ apply Rmult_lt_0_compat; [ exact K | apply Rinv_0_lt_compat, (batch_positive b many N) ] | exact Cb ].
Qed.

(* and by a factor B/2 for every even B, however many tokens of pattern 1 the others have, from a number on *)
Theorem off_by_half_the_batch_for_keys : forall b many, (0 < many)%nat -> many_tokens (exp 1) (INR b) <= INR many ->
  let B := the_size b in let batch := the_batch b many in
  INR B / 2 * mean B (fun n => Q_t 4 4 4 2 hinge B batch axis at_start * portion (batch n) (the_kinds b n) 2) <=
    Rabs (gamma 4 4 4 2 hinge B batch axis at_start 2).
Proof.
  intros b many N H B batch. destruct (half_the_batch b many N H) as (K & L & P). destruct (the_components b many N) as (_ & E1 & _ & E2). fold B in K, L, P, E1, E2. fold batch in E1, E2.
  rewrite E1, E2. unfold B, batch in *. rewrite (mean_portion b many N), Rabs_right by lra. exact L.
Qed.

(* what holds instead: Q(t) is the mean of Q_n, what sample n adds along r_1, and each sample bounds its part, with one constant; for M patterns, any
   batch, any width and any loss; a is the least fraction |S_1|/|S| of samples with pattern 1, and e^L is x *)
Theorem bound_with_Q_of_samples : forall d m_a m_b m M slope B batch kind mu w a c L g, (0 < M)%nat ->
  (forall n, (n < B)%nat -> of_patterns M mu (batch n) (kind n)) -> orthonormal d M mu -> orthogonal m_b M (query_of d mu w) -> 0 < a -> 0 <= c < 1 ->
  features_of_one_length d m_b M mu w L -> same_neurons d m_a m_b m slope B batch kind w g -> first_drives M B c g -> first_fraction_at_least B batch kind a ->
  let Q n := G d m_a m_b m slope batch kind w n 0 0 in
  Q_t d m_a m_b m slope B batch mu w = mean B Q /\
  forall k, (0 < k < M)%nat -> Rabs (gamma d m_a m_b m slope B batch mu w k) <= key_bound a c (exp L) * mean B (fun n => Rabs (Q n) * portion (batch n) (kind n) k).
Proof.
  intros d m_a m_b m M slope B batch kind mu w a c L g some patterns normal orth a0 cr feat neur drv frac.
  exact (other_components_of_the_key d m_a m_b m M slope B batch kind mu w patterns normal some a c L g a0 cr orth feat neur drv frac).
Qed.
