From Odesys Require Import outputs.

(* a probability of starts under which a start and its mirror image, with output weights of the other sign, are alike:
   a measure of total 1 on all events of a finite or discrete space of starts; on others read it for the events that occur, all measurable *)
Definition fair (start : Type) (mirror : start -> start) (P : (start -> Prop) -> R) : Prop :=
  P (fun _ => True) = 1 /\ (forall A B : start -> Prop, (forall s, A s -> B s) -> P A <= P B) /\
  (forall A B : start -> Prop, (forall s, ~ (A s /\ B s)) -> P (fun s => A s \/ B s) = P A + P B) /\
  (forall A : start -> Prop, P (fun s => A (mirror s)) = P A).

Lemma half_at_most : forall start mirror P (success ball : start -> Prop), fair start mirror P ->
  (forall s, ball s -> success s -> success (mirror s) -> False) -> P success <= 1 / 2 + P (fun s => ~ ball s).
Proof.
  intros start mirror P success ball (one & more & sum & alike) never. set (A := fun s => success s /\ ball s).
  assert (twice : P A + P (fun s => A (mirror s)) <= 1).
  { rewrite <- sum; [ rewrite <- one; apply more; trivial | ]. intros s ((S1 & B1) & (S2 & _)). exact (never s B1 S1 S2). }
  rewrite alike in twice.
  assert (split : P success <= P A + P (fun s => success s /\ ~ ball s)).
  { rewrite <- sum; [ | intros s ((_ & B1) & (_ & B2)); exact (B2 B1) ]. apply more. intros s S1.
    destruct (Classical_Prop.classic (ball s)); [ left | right ]; split; assumption. }
  assert (rest : P (fun s => success s /\ ~ ball s) <= P (fun s => ~ ball s)) by (apply more; tauto). lra.
Qed.

(* a sample as a start sees it has the start's output weights; up to T of (10) its margin is at least 1 for at most half of the starts, but for those
   with norms beyond o, v, k, q, whichever these are *)
Theorem margins_at_T : forall (d m_a m_b m : nat) (o v k q c alpha_s : R), 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < c -> 0 < alpha_s ->
  for_small_eta (fun x => forall T start mirror P (w : start -> nat -> weights) (X : start -> sample), INR T <= steps c alpha_s x ->
    fair start mirror P -> (forall s, admitted d m (X s)) ->
    (forall s, w (mirror s) 0%nat = w s 0%nat) -> (forall s, X (mirror s) = flipped (X s)) ->
    (forall s, inside d m_a m_b m (w s 0%nat) o v k q -> trained d m_a m_b m o v k q (eta x) (w s)) ->
    P (fun s => 1 <= label (X s) * output d m_a m_b m (w s T) (X s)) <= 1 / 2 + P (fun s => ~ inside d m_a m_b m (w s 0%nat) o v k q)).
Proof.
  intros d m_a m_b m o v k q c alpha_s N c0 SP.
  destruct (longest_not_negative o v k q N 1) as (L1 & L2). set (L := longest o v 1) in *. set (K := longest_K o v k q 1) in *.
  assert (LL : 0 <= L * L) by (apply Rmult_le_pos; assumption). assert (LLK : 0 <= L * L * K) by (apply Rmult_le_pos; assumption).
  set (D := 4 * (L * L * K * K)). assert (D0 : 0 <= D) by (assert (0 <= L * L * K * K) by (apply Rmult_le_pos; assumption); unfold D; lra).
  set (most := 2 * (L * L) + L * L * (2 * D)). assert (most0 : 0 <= most) by (assert (0 <= L * L * (2 * D)) by (apply Rmult_le_pos; lra); unfold most; lra).
  assert (E : 0 < c / alpha_s) by (apply Rdiv_lt_0_compat; assumption).
  exists (1 + c / alpha_s + 2 * D + most). intros x Hx T start mirror P w X few F G W XX R.
  assert (large : 1 + c / alpha_s <= x) by lra. destruct (short_time c alpha_s x T c0 SP large few) as (x1 & e0 & x2 & e1 & e2).
  assert (xi : x * / x = 1) by (apply Rinv_r; lra).
  apply (half_at_most start mirror P _ (fun s => inside d m_a m_b m (w s 0%nat) o v k q) F). intros s In M1 M2.
  assert (close : forall r, inside d m_a m_b m (w r 0%nat) o v k q -> Rabs (output d m_a m_b m (w r T) (X r) - output d m_a m_b m (w r 0%nat) (X r)) < 1).
  { intros r I. specialize (R r I). assert (B := fun t Ht => norms_at d m_a m_b m o v k q c alpha_s x (w r) T N c0 SP large few R t Ht).
    assert (V := moves_at d m_a m_b m o v k q c alpha_s x (w r) T N c0 SP large few R T (le_n T)). fold L K in V.
    assert (f1 : 0 <= / x * L) by (apply Rmult_le_pos; lra). assert (f2 : 0 <= / x * (L * L * K)) by (apply Rmult_le_pos; lra).
    assert (O := outputs_apart d m_a m_b m (w r T) (w r 0%nat) (X r) L L K K (/ x * L) (/ x * (L * L * K)) (G r)
      (conj L1 (conj L1 (conj L2 L2))) (conj f1 f2) (B T (le_n T)) (B 0%nat ltac:(lia)) V).
    eapply Rle_lt_trans; [ exact O | ]. unfold swing.
    replace (2 * (/ x * (L * L * K) * K + K * (/ x * (L * L * K)))) with (D * / x) by (unfold D; ring).
    set (y := D * / x). assert (y0 : 0 <= y) by (apply Rmult_le_pos; lra).
    assert (y1 : y <= / 2).
    { unfold y. apply Rmult_le_reg_r with x; [ lra | ]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (ex : exp y - 1 <= 2 * y).
    { assert (Z := exp_at_least (- y)). rewrite exp_Ropp in Z. assert (ey := exp_pos y).
      assert (Z2 : exp y * (1 + - y) <= 1) by (apply Rle_trans with (exp y * / exp y); [ apply Rmult_le_compat_l; lra | rewrite Rinv_r; lra ]).
      assert (half : exp y * / 2 <= exp y * (1 + - y)) by (apply Rmult_le_compat_l; lra).
      assert (two : exp y * y <= 2 * y) by (apply Rmult_le_compat_r; lra). lra. }
    assert (sw : L * L * (exp y - 1) <= L * L * (2 * y)) by (apply Rmult_le_compat_l; lra).
    apply Rle_lt_trans with (most * / x).
    - unfold most. replace ((2 * (L * L) + L * L * (2 * D)) * / x) with (/ x * L * L + L * (/ x * L) + L * L * (2 * y)) by (unfold y; ring).
      replace (L * (/ x * L + L * (exp y - 1))) with (L * (/ x * L) + L * L * (exp y - 1)) by ring. lra.
    - apply Rmult_lt_reg_r with x; [ lra | ]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (c1 := close s In). assert (In' : inside d m_a m_b m (w (mirror s) 0%nat) o v k q) by (rewrite W; exact In).
  assert (c2 := close (mirror s) In'). rewrite W, XX, (flipped_output d m_a m_b m (w s 0%nat)) in c2. rewrite XX in M2. change (label (flipped (X s))) with (label (X s)) in M2.
  assert (lab : Rabs (label (X s)) <= 1) by (destruct (G s) as (_ & Z & _); exact Z). apply within in lab.
  set (a := output d m_a m_b m (w s T) (X s)) in *. set (b := output d m_a m_b m (w (mirror s) T) (flipped (X s))) in *.
  set (a0 := output d m_a m_b m (w s 0%nat) (X s)) in *. set (y := label (X s)) in *.
  assert (c1' : - 1 < a - a0 < 1) by (unfold Rabs in c1; destruct (Rcase_abs (a - a0)); lra).
  assert (c2' : - 1 < b - - a0 < 1) by (unfold Rabs in c2; destruct (Rcase_abs (b - - a0)); lra).
  assert (ab : -2 < a + b < 2) by lra. assert (yy : 2 <= y * (a + b)) by lra.
  destruct (Rle_lt_dec 0 y) as [Y|Y]; nra.
Qed.
