(* f of the proof of Lemma 6.1, without ReLU: w of both heads is the sum of all v_k *)
Definition by_signals (K : nat) (x : word) : R := total K (fun k => along_v k x).
Definition printed_f (K : nat) (C : R) (X : list word) : R := head K (by_signals K) 1 C X - head K (by_signals K) (- (1)) C X.

Lemma value_of_signal : forall K p j, (j < K)%nat -> by_signals K (signal p j) = sign p.
Proof.
  intros K p j L. unfold by_signals. rewrite (only K _ j L).
  - apply along_own.
  - intros i _ D. apply along_other. congruence.
Qed.

Lemma value_of_group : forall K j, by_signals K (group j) = 0.
Proof. intros K j. unfold by_signals. rewrite (total_equal K _ (fun _ => 0)) by (intros; reflexivity). apply none. Qed.

Lemma values_of_others : forall K X, (forall x, In x X -> exists p j, x = signal p j /\ (j < K)%nat) -> - INR (length X) <= over X (by_signals K).
Proof.
  intros K. induction X as [|x X E]; intro H; simpl over; simpl length; [ simpl; lra | ]. rewrite S_INR.
  destruct (H x (or_introl eq_refl)) as (p & j & Z & J). rewrite Z, value_of_signal by exact J.
  assert (B := E (fun z I => H z (or_intror I))). destruct p; simpl; lra.
Qed.

(* y f < 0 for every sample with y = -1, whatever C > 0, K, L, the group and the other words: against y f > 0 *)
Theorem wrong_for_one_label : forall K k C others X, 0 < C -> drawn K k false others X -> sign false * printed_f K C X < 0.
Proof.
  intros K k C others X P D. unfold printed_f. rewrite (heads_differ_by_the_group _ _ _ _ _ _ _ _ D), !(row_of_group _ _ _ _ _ _ _ _ D).
  destruct D as (L & _ & O). rewrite value_of_group, value_of_signal by exact L.
  assert (S := values_of_others K others ltac:(intros x I; destruct (O x I) as (p & j & E & J & _); exists p, j; split; assumption)).
  simpl sign. replace (2 * 1 * C * -1) with (- (2 * C)) by ring. replace (2 * - (1) * C * -1) with (2 * C) by ring.
  assert (U := exp_pos C). assert (A := exp_pos (- (2 * C))). assert (G := exp_increasing (- (2 * C)) (2 * C) ltac:(lra)).
  assert (N := pos_INR (length others)). set (u := exp C) in *. set (a := exp (- (2 * C))) in *. set (b := exp (2 * C)) in *.
  set (n := INR (length others)) in *. set (t := over others (by_signals K)) in *.
  assert (E : -1 * ((u * 0 + a * -1 + t) / (u + a + n) - (u * 0 + b * -1 + t) / (u + b + n)) =
    - ((b - a) * (t + u + n) * / ((u + a + n) * (u + b + n)))) by (field; lra).
  rewrite E. apply Ropp_lt_cancel. rewrite Ropp_0, Ropp_involutive. apply Rmult_lt_0_compat; [ apply Rmult_lt_0_compat; lra | ].
  apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra.
Qed.

(* there are such samples for all K >= 2 and L >= 3 *)
Theorem there_are_samples : forall K L, (2 <= K)%nat -> (3 <= L)%nat -> exists others X, drawn K 0 false others X /\ length X = L.
Proof.
  intros K L K2 L3. exists (repeat (signal true 1) (L - 2)), (group 0 :: signal false 0 :: repeat (signal true 1) (L - 2)). split.
  - split; [ lia | split; [ apply Permutation_refl | ] ]. intros x I. apply repeat_spec in I. exists true, 1%nat. repeat split; [ exact I | lia | lia ].
  - simpl. rewrite repeat_length. lia.
Qed.

(* the same of the printed weights, for orthonormal vectors with d entries: W_K'W_Q is the printed matrix by product_is_printed, and w of both heads is the sum of all v_k *)
Theorem printed_weights_are_wrong : forall d K c v, orthonormal d K c v -> forall k C others X, 0 < C -> drawn K k false others X ->
  let H s := head_of_weights d (2 * K) (fun a => total K (fun j => v j a)) (rows_K K c v s C) (rows_Q K c v) c v X in sign false * (H 1 - H (- (1))) < 0.
Proof.
  intros d K c v N k C others X P D H. assert (G := drawn_of_group K k false others X D).
  assert (W : forall x, of_group K x -> inner d (fun a => total K (fun j => v j a)) (vector c v x) = by_signals K x).
  { intros x O. rewrite inner_of_total. apply total_equal. intros j J. apply (along_vectors d K c v N j x J O). }
  unfold H. rewrite !(head_is_head d K c v N _ C _ (by_signals K) X G W). apply (wrong_for_one_label K k C others X P D).
Qed.
