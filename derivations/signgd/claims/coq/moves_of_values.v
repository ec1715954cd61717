Lemma proportional_P_plus : forall j, along argument_P_plus j = xi j * common argument_P_plus.
Proof. intro j. unfold argument_P_plus. whole. ring. Qed.

Lemma proportional_N_plus : forall j, along argument_N_plus j = xi j * common argument_N_plus.
Proof. intro j. unfold argument_N_plus. whole. ring. Qed.

Lemma sign_P_plus : 0 < common argument_P_plus.
Proof. unfold common, argument_P_plus, sigmoid. pos. Qed.

Lemma sign_N_plus : common argument_N_plus < 0.
Proof. apply Ropp_lt_cancel. rewrite Ropp_0. unfold common, argument_N_plus, sigmoid. rewrite ?Ropp_involutive. pos. Qed.

(* rows of W_{V,1} and W_{V,-1} along y_i xi_i, y_i = 1 *)
Theorem rows_move_plus : forall row row' eta,
  ((forall j, (j < d)%nat -> row' j = row j + eta * sgn (along argument_P_plus j)) ->
    inner d row' xi = inner d row xi + eta * norm1 d xi) /\
  ((forall j, (j < d)%nat -> row' j = row j + eta * sgn (along argument_N_plus j)) ->
    inner d row' xi = inner d row xi - eta * norm1 d xi).
Proof.
  intros row row' eta; split; intro step.
  - rewrite (moves_by_the_norm _ _ _ _ proportional_P_plus step), (sgn_positive _ sign_P_plus); ring.
  - rewrite (moves_by_the_norm _ _ _ _ proportional_N_plus step), (sgn_negative _ sign_N_plus); ring.
Qed.

(* v = 1/m_v sum_r (w_{V,1,r} - w_{V,-1,r}), with r rows in each class: it moves by 2 eta |xi_i|_1 *)
Theorem mean_value_moves_plus : forall (r : nat) (P P' N N' : nat -> nat -> R) eta, m_v = INR r ->
  (forall s j, (s < r)%nat -> (j < d)%nat -> P' s j = P s j + eta * sgn (along argument_P_plus j)) ->
  (forall s j, (s < r)%nat -> (j < d)%nat -> N' s j = N s j + eta * sgn (along argument_N_plus j)) ->
  (total r (fun s => inner d (P' s) xi - inner d (N' s) xi) / m_v) =
  (total r (fun s => inner d (P s) xi - inner d (N s) xi) / m_v) + 2 * eta * norm1 d xi.
Proof.
  intros r P P' N N' eta R up down.
  rewrite (total_equal r (fun s => inner d (P' s) xi - inner d (N' s) xi)
    (fun s => (inner d (P s) xi - inner d (N s) xi) + (2 * eta * norm1 d xi))).
  - rewrite total_plus, total_constant, R. field. rewrite R in some_rows. lra.
  - intros s HS. assert (A := proj1 (rows_move_plus (P s) (P' s) eta) (fun j J => up s j HS J)).
    assert (B := proj2 (rows_move_plus (N s) (N' s) eta) (fun j J => down s j HS J)). lra.
Qed.

Lemma proportional_P_minus : forall j, along argument_P_minus j = xi j * common argument_P_minus.
Proof. intro j. unfold argument_P_minus. whole. ring. Qed.

Lemma proportional_N_minus : forall j, along argument_N_minus j = xi j * common argument_N_minus.
Proof. intro j. unfold argument_N_minus. whole. ring. Qed.

Lemma sign_N_minus : 0 < common argument_N_minus.
Proof. unfold common, argument_N_minus, sigmoid. pos. Qed.

Lemma sign_P_minus : common argument_P_minus < 0.
Proof. apply Ropp_lt_cancel. rewrite Ropp_0. unfold common, argument_P_minus, sigmoid. rewrite ?Ropp_involutive. pos. Qed.

(* rows of W_{V,1} and W_{V,-1} along y_i xi_i, y_i = -1 *)
Theorem rows_move_minus : forall row row' eta,
  ((forall j, (j < d)%nat -> row' j = row j + eta * sgn (along argument_P_minus j)) ->
    - inner d row' xi = - inner d row xi + eta * norm1 d xi) /\
  ((forall j, (j < d)%nat -> row' j = row j + eta * sgn (along argument_N_minus j)) ->
    - inner d row' xi = - inner d row xi - eta * norm1 d xi).
Proof.
  intros row row' eta; split; intro step.
  - rewrite (moves_by_the_norm _ _ _ _ proportional_P_minus step), (sgn_negative _ sign_P_minus); ring.
  - rewrite (moves_by_the_norm _ _ _ _ proportional_N_minus step), (sgn_positive _ sign_N_minus); ring.
Qed.

(* v = 1/m_v sum_r (w_{V,1,r} - w_{V,-1,r}), with r rows in each class: it moves by 2 eta |xi_i|_1 *)
Theorem mean_value_moves_minus : forall (r : nat) (P P' N N' : nat -> nat -> R) eta, m_v = INR r ->
  (forall s j, (s < r)%nat -> (j < d)%nat -> P' s j = P s j + eta * sgn (along argument_P_minus j)) ->
  (forall s j, (s < r)%nat -> (j < d)%nat -> N' s j = N s j + eta * sgn (along argument_N_minus j)) ->
  - (total r (fun s => inner d (P' s) xi - inner d (N' s) xi) / m_v) =
  - (total r (fun s => inner d (P s) xi - inner d (N s) xi) / m_v) + 2 * eta * norm1 d xi.
Proof.
  intros r P P' N N' eta R up down.
  rewrite (total_equal r (fun s => inner d (P' s) xi - inner d (N' s) xi)
    (fun s => (inner d (P s) xi - inner d (N s) xi) + - (2 * eta * norm1 d xi))).
  - rewrite total_plus, total_constant, R. field. rewrite R in some_rows. lra.
  - intros s HS. assert (A := proj1 (rows_move_minus (P s) (P' s) eta) (fun j J => up s j HS J)).
    assert (B := proj2 (rows_move_minus (N s) (N' s) eta) (fun j J => down s j HS J)). lra.
Qed.
End support.

(* along the signal, which has one entry mu, a step of length eta moves by eta |mu|, unless its argument c vanishes *)
Theorem move_along_the_signal : forall w w' mu eta c, 0 <= eta -> 0 < mu -> c <> 0 -> w' = w + eta * sgn c ->
  Rabs (w' * mu - w * mu) = eta * mu.
Proof.
  intros w w' mu eta c E M N step. rewrite step. replace ((w + eta * sgn c) * mu - w * mu) with (eta * mu * sgn c) by ring.
  rewrite Rabs_mult, (sgn_one _ N), Rmult_1_r. apply Rabs_right, Rle_ge, Rmult_le_pos; lra.
Qed.
