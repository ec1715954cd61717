Lemma proportional_Q_plus : forall j, along argument_Q_plus j = xi j * common argument_Q_plus.
Proof. intro j. unfold argument_Q_plus. whole. ring. Qed.

(* |<Delta w_Q, y_i xi_i>| = eta |xi_i|_1, unless the argument vanishes *)
Theorem move_of_a_query_plus : forall q' eta, 0 <= eta -> common argument_Q_plus <> 0 ->
  (forall j, (j < d)%nat -> q' j = q j + eta * sgn (along argument_Q_plus j)) ->
  Rabs (inner d q' xi - inner d q xi) = eta * norm1 d xi.
Proof. intros q' eta E N step. exact (length_of_move _ _ _ _ E proportional_Q_plus N step). Qed.

Lemma proportional_K_plus : forall j, along argument_K_plus j = xi j * common argument_K_plus.
Proof. intro j. unfold argument_K_plus. whole. ring. Qed.

(* |<Delta w_K, y_i xi_i>| = eta |xi_i|_1, unless the argument vanishes *)
Theorem move_of_a_key_plus : forall k' eta, 0 <= eta -> common argument_K_plus <> 0 ->
  (forall j, (j < d)%nat -> k' j = k j + eta * sgn (along argument_K_plus j)) ->
  Rabs (inner d k' xi - inner d k xi) = eta * norm1 d xi.
Proof. intros k' eta E N step. exact (length_of_move _ _ _ _ E proportional_K_plus N step). Qed.

Lemma proportional_Q_minus : forall j, along argument_Q_minus j = xi j * common argument_Q_minus.
Proof. intro j. unfold argument_Q_minus. whole. ring. Qed.

(* |<Delta w_Q, y_i xi_i>| = eta |xi_i|_1, unless the argument vanishes *)
Theorem move_of_a_query_minus : forall q' eta, 0 <= eta -> common argument_Q_minus <> 0 ->
  (forall j, (j < d)%nat -> q' j = q j + eta * sgn (along argument_Q_minus j)) ->
  Rabs (inner d q' xi - inner d q xi) = eta * norm1 d xi.
Proof. intros q' eta E N step. exact (length_of_move _ _ _ _ E proportional_Q_minus N step). Qed.

Lemma proportional_K_minus : forall j, along argument_K_minus j = xi j * common argument_K_minus.
Proof. intro j. unfold argument_K_minus. whole. ring. Qed.

(* |<Delta w_K, y_i xi_i>| = eta |xi_i|_1, unless the argument vanishes *)
Theorem move_of_a_key_minus : forall k' eta, 0 <= eta -> common argument_K_minus <> 0 ->
  (forall j, (j < d)%nat -> k' j = k j + eta * sgn (along argument_K_minus j)) ->
  Rabs (inner d k' xi - inner d k xi) = eta * norm1 d xi.
Proof. intros k' eta E N step. exact (length_of_move _ _ _ _ E proportional_K_minus N step). Qed.
End support.

(* along the signal, which has one entry mu, a step of length eta moves by eta |mu|, unless its argument c vanishes *)
Theorem move_along_the_signal : forall w w' mu eta c, 0 <= eta -> 0 < mu -> c <> 0 -> w' = w + eta * sgn c ->
  Rabs (w' * mu - w * mu) = eta * mu.
Proof.
  intros w w' mu eta c E M N step. rewrite step. replace ((w + eta * sgn c) * mu - w * mu) with (eta * mu * sgn c) by ring.
  rewrite Rabs_mult, (sgn_one _ N), Rmult_1_r. apply Rabs_right, Rle_ge, Rmult_le_pos; lra.
Qed.
