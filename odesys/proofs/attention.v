(* One layer of softmax attention with ReLU units and a loss with slopes in [0, 1], and steps along its forces: how long the
   matrices can become in t steps, and how far they go, for every batch, width and start. Nothing is assumed here. *)
From Coq Require Import Reals Lra Lia Psatz.
From Odesys Require Import prelude sequences lengths matrices.
Open Scope R_scope.

(* a sample: tokens with their counts (1 for each, or as many as a pattern has), its label, and output weights by position *)
Record sample := { size : nat; count : nat -> R; token : nat -> nat -> R; label : R; out : nat -> nat -> R }.
(* W_O has rows of m neurons, W_V of values, W_K and W_Q of keys and queries *)
Record weights := { WO : nat -> nat -> R; WV : nat -> nat -> R; WK : nat -> nat -> R; WQ : nat -> nat -> R }.

Section layer.
Variables d ma mb m : nat. (* entries of tokens, of values, of keys and queries; neurons *)

Definition key (w : weights) (p : sample) (s : nat) : nat -> R := apply d (WK w) (token p s).
Definition query (w : weights) (p : sample) (s : nat) : nat -> R := apply d (WQ w) (token p s).
Definition value (w : weights) (p : sample) (s : nat) : nat -> R := apply d (WV w) (token p s).
Definition logit (w : weights) (p : sample) (s l : nat) : R := inner mb (key w p s) (query w p l).
Definition mass (w : weights) (p : sample) (l : nat) : R := total (size p) (fun r => count p r * exp (logit w p r l)).
Definition attention (w : weights) (p : sample) (s l : nat) : R := count p s * exp (logit w p s l) / mass w p l.
Definition share (p : sample) (l : nat) : R := count p l / total (size p) (count p).
Definition mixed (w : weights) (p : sample) (l : nat) : nat -> R :=
  fun x => total (size p) (fun s => attention w p s l * value w p s x).
Definition hidden (w : weights) (p : sample) (l i : nat) : R := inner ma (WO w i) (mixed w p l).
Definition relu (h : R) : R := step h * h.
Definition output (w : weights) (p : sample) : R :=
  total (size p) (fun l => share p l * total m (fun i => out p l i * relu (hidden w p l i))).

(* minus the slope of the loss in the margin: 1 if 1 - y F > 0 and 0 else for the hinge, 1 in printed gradients *)
Variable slope : weights -> sample -> R.
Hypothesis slope_range : forall w p, 0 <= slope w p <= 1.

Definition coefficient (w : weights) (p : sample) (l i : nat) : R :=
  label p * slope w p * share p l * (out p l i * step (hidden w p l i)).
Definition gain (w : weights) (p : sample) (s l : nat) : R :=
  total m (fun i => coefficient w p l i * inner ma (WO w i) (value w p s)).
Definition pull (w : weights) (p : sample) (s l : nat) : R :=
  attention w p s l * (gain w p s l - total (size p) (fun r => attention w p r l * gain w p r l)).

(* minus the gradients of the mean loss over a batch of B samples *)
Definition force_O (B : nat) (batch : nat -> sample) (w : weights) (i x : nat) : R :=
  / INR B * total B (fun n => total (size (batch n)) (fun l => coefficient w (batch n) l i * mixed w (batch n) l x)).
Definition force_V (B : nat) (batch : nat -> sample) (w : weights) (x c : nat) : R :=
  / INR B * total B (fun n => total (size (batch n)) (fun l =>
    total m (fun i => coefficient w (batch n) l i * WO w i x) *
    total (size (batch n)) (fun s => attention w (batch n) s l * token (batch n) s c))).
Definition force_K (B : nat) (batch : nat -> sample) (w : weights) (z c : nat) : R :=
  / INR B * total B (fun n => total (size (batch n)) (fun l =>
    query w (batch n) l z * total (size (batch n)) (fun s => pull w (batch n) s l * token (batch n) s c))).
Definition force_Q (B : nat) (batch : nat -> sample) (w : weights) (z c : nat) : R :=
  / INR B * total B (fun n => total (size (batch n)) (fun l =>
    total (size (batch n)) (fun s => pull w (batch n) s l * key w (batch n) s z) * token (batch n) l c)).

(* tokens and output weights of a position are at most 1 long, labels are 1 or -1 *)
Definition admitted (p : sample) : Prop :=
  (0 < size p)%nat /\ Rabs (label p) <= 1 /\
  forall s, (s < size p)%nat -> 0 < count p s /\ norm d (token p s) <= 1 /\ norm m (out p s) <= 1.

(* norms of the four matrices *)
Definition inside (w : weights) (o v k q : R) : Prop :=
  at_most m ma (WO w) o /\ at_most ma d (WV w) v /\ at_most mb d (WK w) k /\ at_most mb d (WQ w) q.

Section one_sample.
Variables (w : weights) (p : sample).
Hypothesis good : admitted p.

Lemma mass_positive : forall l, 0 < mass w p l.
Proof.
  intro l. destruct good as (N & _ & H). apply total_positive; [ exact N | ].
  intros k K. destruct (H k K) as [C _]. apply Rmult_lt_0_compat; [ exact C | apply exp_pos ].
Qed.

Lemma attention_positive : forall s l, (s < size p)%nat -> 0 < attention w p s l.
Proof.
  intros s l L. destruct good as (N & _ & H). destruct (H s L) as [C _]. unfold attention, Rdiv.
  apply Rmult_lt_0_compat; [ apply Rmult_lt_0_compat; [ exact C | apply exp_pos ] | apply Rinv_0_lt_compat, mass_positive ].
Qed.

Lemma attention_sum : forall l, total (size p) (fun s => attention w p s l) = 1.
Proof.
  intro l. unfold attention, Rdiv. rewrite total_times. fold (mass w p l). apply Rinv_r.
  apply Rgt_not_eq, mass_positive.
Qed.

Lemma attention_below : forall s l, (s < size p)%nat -> attention w p s l <= 1.
Proof.
  intros s l L. rewrite <- (attention_sum l).
  apply (summand_below (size p) (fun s => attention w p s l)); [ intros; apply Rlt_le, attention_positive; assumption | exact L ].
Qed.

Lemma share_positive : forall l, (l < size p)%nat -> 0 < share p l.
Proof.
  intros l L. destruct good as (N & _ & H). unfold share, Rdiv. apply Rmult_lt_0_compat; [ apply H, L | ].
  apply Rinv_0_lt_compat, total_positive; [ exact N | intros; apply H; assumption ].
Qed.

Lemma share_sum : total (size p) (share p) = 1.
Proof.
  destruct good as (N & _ & H). unfold share, Rdiv. rewrite total_times. apply Rinv_r.
  apply Rgt_not_eq, total_positive; [ exact N | intros; apply H; assumption ].
Qed.

(* a mean of vectors over attention *)
Lemma attended : forall e (u : nat -> nat -> R) l b, (forall s, (s < size p)%nat -> norm e (u s) <= b) ->
  norm e (fun x => total (size p) (fun s => attention w p s l * u s x)) <= b.
Proof.
  intros e u l b H. eapply Rle_trans; [ apply norm_total | ].
  rewrite (total_equal _ _ (fun s => attention w p s l * norm e (u s))).
  - apply mean_below; [ intros; apply Rlt_le, attention_positive; assumption | apply attention_sum | exact H ].
  - intros s L. rewrite norm_scaled, Rabs_right; [ reflexivity | apply Rle_ge, Rlt_le, attention_positive, L ].
Qed.

Variables o v k q : R.
Hypothesis not_negative : 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q.
Hypothesis bounds : inside w o v k q.

Lemma of_token : forall r W b s, 0 <= b -> at_most r d W b -> (s < size p)%nat -> norm r (apply d W (token p s)) <= b.
Proof.
  intros r W b s P H L. destruct good as (_ & _ & G). destruct (G s L) as (_ & T & _). specialize (H (token p s)).
  assert (N := norm_not_negative d (token p s)). nra.
Qed.

Lemma mixed_below : forall l, norm ma (mixed w p l) <= v.
Proof. intro l. apply attended. intros s L. apply of_token; [ apply not_negative | apply bounds | exact L ]. Qed.

Lemma coefficient_below : forall l, (l < size p)%nat -> norm m (coefficient w p l) <= share p l.
Proof.
  intros l L. unfold coefficient. rewrite norm_scaled. assert (S := share_positive l L).
  destruct good as (_ & Y & G). destruct (G l L) as (_ & _ & O). assert (R := slope_range w p).
  assert (A : norm m (fun i => out p l i * step (hidden w p l i)) <= 1).
  { eapply Rle_trans; [ | exact O ]. apply norm_below. intros i _. rewrite Rabs_mult. assert (P := Rabs_pos (out p l i)).
    unfold step. destruct (Rlt_dec 0 (hidden w p l i)); [ rewrite Rabs_R1 | rewrite Rabs_R0 ]; lra. }
  rewrite !Rabs_mult, (Rabs_right (share p l)), (Rabs_right (slope w p)) by lra.
  assert (P := Rabs_pos (label p)). assert (N := norm_not_negative m (fun i => out p l i * step (hidden w p l i))).
  assert (X : 0 <= Rabs (label p) * slope w p <= 1) by (split; [ apply Rmult_le_pos; lra | nra ]).
  assert (Z : 0 <= Rabs (label p) * slope w p * share p l <= share p l) by (split; [ apply Rmult_le_pos; lra | nra ]). nra.
Qed.

Lemma gain_below : forall s l, (s < size p)%nat -> (l < size p)%nat -> Rabs (gain w p s l) <= share p l * (o * v).
Proof.
  intros s l K L. assert (C := cauchy_schwarz m (coefficient w p l) (apply ma (WO w) (value w p s))).
  assert (A := coefficient_below l L). destruct bounds as (HO & HV & _). specialize (HO (value w p s)).
  assert (V : norm ma (value w p s) <= v) by (apply of_token; [ apply not_negative | exact HV | exact K ]).
  assert (E : norm m (apply ma (WO w) (value w p s)) <= o * v).
  { eapply Rle_trans; [ exact HO | ]. apply Rmult_le_compat_l; [ apply not_negative | exact V ]. }
  eapply Rle_trans; [ exact C | ]. apply Rmult_le_compat; try assumption; apply norm_not_negative.
Qed.

Lemma pull_below : forall l, (l < size p)%nat -> total (size p) (fun s => Rabs (pull w p s l)) <= share p l * (o * v).
Proof.
  intros l L. apply spread_below.
  - apply Rmult_le_pos; [ apply Rlt_le, share_positive, L | apply Rmult_le_pos; apply not_negative ].
  - intros; apply Rlt_le, attention_positive; assumption.
  - apply attention_sum.
  - intros s K. apply gain_below; assumption.
Qed.

(* what a sample pulls with: sums over positions of a column times a row *)
Lemma pulled : forall e (u : nat -> nat -> R) l b, (l < size p)%nat -> 0 <= b ->
  (forall s, (s < size p)%nat -> norm e (u s) <= b) ->
  norm e (fun x => total (size p) (fun s => pull w p s l * u s x)) <= share p l * (o * v) * b.
Proof.
  intros e u l b L P H. eapply Rle_trans; [ apply norm_total | ].
  apply Rle_trans with (total (size p) (fun s => Rabs (pull w p s l) * b)).
  - apply total_at_most. intros s K. rewrite norm_scaled. apply Rmult_le_compat_l; [ apply Rabs_pos | apply H, K ].
  - rewrite total_times. apply Rmult_le_compat_r; [ exact P | apply pull_below, L ].
Qed.

Lemma over_positions : forall r e (f g : nat -> nat -> R) b, 0 <= b ->
  (forall l, (l < size p)%nat -> norm r (f l) * norm e (g l) <= share p l * b) ->
  at_most r e (fun i x => total (size p) (fun l => f l i * g l x)) b.
Proof.
  intros r e f g b P H. apply at_most_weaker with (total (size p) (fun l => share p l * b)).
  - rewrite total_times, share_sum; lra.
  - apply (at_most_total r e (size p) (fun l i x => f l i * g l x)). intros l L.
    apply at_most_weaker with (norm r (f l) * norm e (g l)); [ apply H, L | apply at_most_product ].
Qed.

Lemma sample_O : at_most m ma (fun i x => total (size p) (fun l => coefficient w p l i * mixed w p l x)) v.
Proof.
  apply over_positions; [ apply not_negative | ]. intros l L.
  apply Rmult_le_compat; try apply norm_not_negative; [ apply coefficient_below, L | apply mixed_below ].
Qed.

Lemma sample_V : at_most ma d (fun x c => total (size p) (fun l => total m (fun i => coefficient w p l i * WO w i x) *
    total (size p) (fun s => attention w p s l * token p s c))) o.
Proof.
  apply (over_positions ma d (fun l x => total m (fun i => coefficient w p l i * WO w i x))
    (fun l c => total (size p) (fun s => attention w p s l * token p s c))); [ apply not_negative | ]. intros l L.
  assert (A := transposed m ma (WO w) o (coefficient w p l) (proj1 not_negative) (proj1 bounds)).
  assert (B := coefficient_below l L). assert (T : norm d (fun c => total (size p) (fun s => attention w p s l * token p s c)) <= 1).
  { apply attended. intros s K. destruct good as (_ & _ & G). apply G, K. }
  assert (O := proj1 not_negative). assert (N := norm_not_negative d (fun c => total (size p) (fun s => attention w p s l * token p s c))).
  assert (M := norm_not_negative ma (fun x => total m (fun i => coefficient w p l i * WO w i x))).
  apply Rle_trans with (norm ma (fun x => total m (fun i => coefficient w p l i * WO w i x)) * 1).
  - apply Rmult_le_compat_l; assumption.
  - rewrite Rmult_1_r. eapply Rle_trans; [ exact A | ]. rewrite Rmult_comm. apply Rmult_le_compat_r; assumption.
Qed.

Lemma sample_K : at_most mb d (fun z c => total (size p) (fun l => query w p l z *
    total (size p) (fun s => pull w p s l * token p s c))) (o * v * q).
Proof.
  destruct not_negative as (O & V & K & Q).
  apply (over_positions mb d (query w p) (fun l c => total (size p) (fun s => pull w p s l * token p s c))).
  { apply Rmult_le_pos; [ apply Rmult_le_pos | ]; assumption. }
  intros l L. assert (A : norm mb (query w p l) <= q) by (apply of_token; [ exact Q | apply bounds | exact L ]).
  assert (B : norm d (fun c => total (size p) (fun s => pull w p s l * token p s c)) <= share p l * (o * v) * 1).
  { apply pulled; [ exact L | lra | ]. intros s S. destruct good as (_ & _ & G). apply G, S. }
  replace (share p l * (o * v * q)) with (q * (share p l * (o * v) * 1)) by ring.
  apply Rmult_le_compat; try apply norm_not_negative; assumption.
Qed.

Lemma sample_Q : at_most mb d (fun z c => total (size p) (fun l =>
    total (size p) (fun s => pull w p s l * key w p s z) * token p l c)) (o * v * k).
Proof.
  destruct not_negative as (O & V & K & Q).
  apply (over_positions mb d (fun l z => total (size p) (fun s => pull w p s l * key w p s z)) (fun l c => token p l c)).
  { apply Rmult_le_pos; [ apply Rmult_le_pos | ]; assumption. }
  intros l L. assert (B : norm mb (fun z => total (size p) (fun s => pull w p s l * key w p s z)) <= share p l * (o * v) * k).
  { apply pulled; [ exact L | exact K | ]. intros s S. apply of_token; [ exact K | apply bounds | exact S ]. }
  destruct good as (_ & _ & G). destruct (G l L) as (_ & T & _).
  replace (share p l * (o * v * k)) with (share p l * (o * v) * k * 1) by ring.
  apply Rmult_le_compat; try apply norm_not_negative; assumption.
Qed.

(* an output is bounded by norms *)
Lemma unit_below : forall h, Rabs (relu h) <= Rabs h.
Proof. intro h. unfold relu, step. destruct (Rlt_dec 0 h); rewrite Rabs_mult; [ rewrite Rabs_R1 | rewrite Rabs_R0 ]; assert (P := Rabs_pos h); lra. Qed.

(* a part of an output: any choice of neurons at any choice of positions *)
Lemma part_below : forall chosen : nat -> nat -> R, (forall l i, 0 <= chosen l i <= 1) ->
  Rabs (total (size p) (fun l => share p l * total m (fun i => chosen l i * out p l i * relu (hidden w p l i)))) <= o * v.
Proof.
  intros chosen X. destruct not_negative as (O & V & _).
  eapply Rle_trans; [ apply total_abs | ].
  rewrite (total_equal _ _ (fun l => share p l * Rabs (total m (fun i => chosen l i * out p l i * relu (hidden w p l i))))).
  2:{ intros l L. rewrite Rabs_mult, Rabs_right; [ reflexivity | apply Rle_ge, Rlt_le, share_positive, L ]. }
  apply mean_below; [ intros; apply Rlt_le, share_positive; assumption | apply share_sum | ].
  intros l L. eapply Rle_trans; [ apply (cauchy_schwarz m (fun i => chosen l i * out p l i) (fun i => relu (hidden w p l i))) | ].
  assert (A : norm m (fun i => relu (hidden w p l i)) <= o * v).
  { apply Rle_trans with (norm m (apply ma (WO w) (mixed w p l))).
    - apply norm_below. intros i _. apply unit_below.
    - eapply Rle_trans; [ apply (proj1 bounds) | ]. apply Rmult_le_compat_l; [ exact O | apply mixed_below ]. }
  assert (U : norm m (fun i => chosen l i * out p l i) <= 1).
  { destruct good as (_ & _ & G). destruct (G l L) as (_ & _ & U). eapply Rle_trans; [ | exact U ]. apply norm_below.
    intros i _. rewrite Rabs_mult, (Rabs_right (chosen l i)) by (destruct (X l i); lra). specialize (X l i).
    assert (P := Rabs_pos (out p l i)). nra. }
  assert (N := norm_not_negative m (fun i => relu (hidden w p l i))).
  assert (M := norm_not_negative m (fun i => chosen l i * out p l i)). nra.
Qed.

Lemma output_below : Rabs (output w p) <= o * v.
Proof.
  assert (H := part_below (fun _ _ => 1) ltac:(intros; lra)). eapply Rle_trans; [ | exact H ]. right. f_equal.
  apply total_equal. intros l _. f_equal. apply total_equal. intros; ring.
Qed.

End one_sample.

(* means over a batch *)
Lemma over_batch : forall r e B (U : nat -> nat -> nat -> R) b, (0 < B)%nat -> 0 <= b ->
  (forall n, (n < B)%nat -> at_most r e (U n) b) -> at_most r e (fun i x => / INR B * total B (fun n => U n i x)) b.
Proof.
  intros r e B U b P N H. apply at_most_weaker with (Rabs (/ INR B) * total B (fun _ => b)).
  - rewrite total_constant. assert (0 < INR B) by (apply lt_0_INR, P). rewrite Rabs_right.
    + right. field. lra.
    + apply Rle_ge, Rlt_le, Rinv_0_lt_compat. assumption.
  - apply at_most_scaled. apply at_most_total. exact H.
Qed.

Definition batch_admitted (B : nat) (batch : nat -> sample) : Prop := (0 < B)%nat /\ forall n, (n < B)%nat -> admitted (batch n).

(* forces are no longer than the products of norms of the other matrices *)
Theorem forces_below : forall B batch w o v k q, batch_admitted B batch -> 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q ->
  inside w o v k q ->
  at_most m ma (force_O B batch w) v /\ at_most ma d (force_V B batch w) o /\
  at_most mb d (force_K B batch w) (o * v * q) /\ at_most mb d (force_Q B batch w) (o * v * k).
Proof.
  intros B batch w o v k q (P & G) N H. destruct N as (O & V & K & Q).
  assert (N : 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q) by auto.
  assert (OV : 0 <= o * v) by (apply Rmult_le_pos; assumption).
  repeat split; apply over_batch; try assumption; try (apply Rmult_le_pos; assumption); intros n L.
  - apply sample_O with (o := o) (k := k) (q := q); auto.
  - apply sample_V with (v := v) (k := k) (q := q); auto.
  - apply sample_K with (k := k); auto.
  - apply sample_Q with (q := q); auto.
Qed.

(* a run: W_O, W_V take steps of size eta along their forces, W_K, W_Q of size kappa, which is eta, or 0 where attention is frozen *)
Definition run (eta kappa : R) (size : nat -> nat) (batch : nat -> nat -> sample) (w : nat -> weights) : Prop :=
  0 <= eta /\ 0 <= kappa <= eta /\ (forall t, batch_admitted (size t) (batch t)) /\
  forall t i x,
    WO (w (S t)) i x = WO (w t) i x + eta * force_O (size t) (batch t) (w t) i x /\
    WV (w (S t)) i x = WV (w t) i x + eta * force_V (size t) (batch t) (w t) i x /\
    WK (w (S t)) i x = WK (w t) i x + kappa * force_K (size t) (batch t) (w t) i x /\
    WQ (w (S t)) i x = WQ (w t) i x + kappa * force_Q (size t) (batch t) (w t) i x.

Section over_steps.
Variables (eta kappa : R) (sizes : nat -> nat) (batches : nat -> nat -> sample) (w : nat -> weights) (o v k q : R).
Hypothesis steps : run eta kappa sizes batches w.
Hypothesis not_negative : 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q.
Hypothesis start : inside (w 0%nat) o v k q.

Lemma moved_by : forall r e W U h b f, 0 <= h -> (forall i x, U i x = W i x + h * f i x) -> at_most r e W b ->
  forall c, at_most r e f c -> at_most r e U (b + h * c).
Proof.
  intros r e W U h b f P E A c F. apply at_most_equal with (fun i x => W i x + h * f i x); [ intros; symmetry; apply E | ].
  apply at_most_plus; [ exact A | ]. replace (h * c) with (Rabs h * c) by (rewrite Rabs_right; lra). apply at_most_scaled, F.
Qed.

(* o(t), v(t), k(t), q(t): each step adds eta v, eta o, kappa o v q, kappa o v k *)
Fixpoint norms (t : nat) : R * R * R * R :=
  match t with
  | O => (o, v, k, q)
  | S t => let '(a, b, c, e) := norms t in (a + eta * b, b + eta * a, c + kappa * (a * b * e), e + kappa * (a * b * c))
  end.

Lemma norms_hold : forall t, let '(a, b, c, e) := norms t in (0 <= a /\ 0 <= b /\ 0 <= c /\ 0 <= e) /\ inside (w t) a b c e.
Proof.
  destruct steps as (P & K & G & M). induction t as [|t E]; simpl; [ auto | ].
  destruct (norms t) as [[[a b] c] e]. destruct E as (N & I). destruct N as (A & B & C & D).
  assert (F := forces_below (sizes t) (batches t) (w t) a b c e (G t) (conj A (conj B (conj C D))) I).
  destruct F as (FO & FV & FK & FQ). destruct I as (IO & IV & IK & IQ).
  assert (AB : 0 <= a * b) by (apply Rmult_le_pos; assumption).
  split; [ repeat split; apply Rplus_le_le_0_compat; try assumption; apply Rmult_le_pos; try lra; try assumption; apply Rmult_le_pos; assumption | ].
  repeat split.
  - apply moved_by with (WO (w t)) (force_O (sizes t) (batches t) (w t)); auto. intros; apply M.
  - apply moved_by with (WV (w t)) (force_V (sizes t) (batches t) (w t)); auto. intros; apply M.
  - apply moved_by with (WK (w t)) (force_K (sizes t) (batches t) (w t)); auto; try lra. intros; apply M.
  - apply moved_by with (WQ (w t)) (force_Q (sizes t) (batches t) (w t)); auto; try lra. intros; apply M.
Qed.

(* all norms up to step T: of W_O and W_V at most e^(eta T) (o + v), of W_K and W_Q at most e^(eta T reach^2) (k + q) *)
Definition reach (T : nat) : R := exp (eta * INR T) * (o + v).
Definition reach_K (T : nat) : R := exp (eta * INR T * (reach T * reach T)) * (k + q).

Lemma exp_step : forall x h, exp x * (1 + h) <= exp (x + h).
Proof. intros x h. rewrite exp_plus. apply Rmult_le_compat_l; [ apply Rlt_le, exp_pos | apply exp_at_least ]. Qed.

Lemma exp_order : forall x y, x <= y -> exp x <= exp y.
Proof. intros x y [H|H]; [ apply Rlt_le, exp_increasing, H | rewrite H; lra ]. Qed.

Theorem norms_up_to : forall T t, (t <= T)%nat -> inside (w t) (reach T) (reach T) (reach_K T) (reach_K T).
Proof.
  intros T t L. assert (A := fun t => norms_hold t). destruct steps as (P & KE & _). destruct not_negative as (O & V & K & Q).
  assert (R1 : 0 <= reach T) by (apply Rmult_le_pos; [ apply Rlt_le, exp_pos | lra ]).
  assert (B : forall n, let '(a, b, c, e) := norms n in a + b <= exp (eta * INR n) * (o + v)).
  { induction n as [|n E]; simpl norms; [ simpl INR; rewrite Rmult_0_r, exp_0; lra | ].
    destruct (norms n) as [[[a b] c] e]. rewrite S_INR. assert (X := exp_step (eta * INR n) eta).
    replace (eta * (INR n + 1)) with (eta * INR n + eta) by ring.
    apply Rle_trans with (exp (eta * INR n) * (1 + eta) * (o + v)); [ | apply Rmult_le_compat_r; lra ].
    replace (a + eta * b + (b + eta * a)) with ((1 + eta) * (a + b)) by ring. nra. }
  assert (B' : forall n, (n <= T)%nat -> let '(a, b, c, e) := norms n in a + b <= reach T).
  { intros n N. specialize (B n). destruct (norms n) as [[[a b] c] e]. eapply Rle_trans; [ exact B | ].
    apply Rmult_le_compat_r; [ lra | ]. apply exp_order. apply Rmult_le_compat_l; [ exact P | apply le_INR, N ]. }
  assert (C : forall n, (n <= T)%nat -> let '(a, b, c, e) := norms n in c + e <= exp (eta * INR n * (reach T * reach T)) * (k + q)).
  { induction n as [|n E]; intro N; [ simpl; rewrite Rmult_0_r, Rmult_0_l, exp_0; lra | ].
    assert (H := E ltac:(lia)). assert (G := B' n ltac:(lia)). assert (Z := A n). simpl norms.
    destruct (norms n) as [[[a b] c] e]. destruct Z as ((A1 & A2 & A3 & A4) & _). rewrite S_INR.
    replace (eta * (INR n + 1) * (reach T * reach T)) with (eta * INR n * (reach T * reach T) + eta * (reach T * reach T)) by ring.
    assert (X := exp_step (eta * INR n * (reach T * reach T)) (eta * (reach T * reach T))).
    apply Rle_trans with (exp (eta * INR n * (reach T * reach T)) * (1 + eta * (reach T * reach T)) * (k + q)); [ | apply Rmult_le_compat_r; lra ].
    replace (c + kappa * (a * b * e) + (e + kappa * (a * b * c))) with ((1 + kappa * (a * b)) * (c + e)) by ring.
    assert (AB : 0 <= a * b <= reach T * reach T).
    { split; [ apply Rmult_le_pos; assumption | apply Rmult_le_compat; lra ]. }
    assert (D : kappa * (a * b) <= eta * (reach T * reach T)) by (apply Rmult_le_compat; lra).
    assert (F : 0 <= kappa * (a * b)) by (apply Rmult_le_pos; lra).
    apply Rle_trans with ((1 + eta * (reach T * reach T)) * (c + e)); [ apply Rmult_le_compat_r; lra | ].
    replace (exp (eta * INR n * (reach T * reach T)) * (1 + eta * (reach T * reach T)) * (k + q)) with
      ((1 + eta * (reach T * reach T)) * (exp (eta * INR n * (reach T * reach T)) * (k + q))) by ring.
    apply Rmult_le_compat_l; lra. }
  assert (C' : forall n, (n <= T)%nat -> let '(a, b, c, e) := norms n in c + e <= reach_K T).
  { intros n N. specialize (C n N). destruct (norms n) as [[[a b] c] e]. eapply Rle_trans; [ exact C | ].
    apply Rmult_le_compat_r; [ lra | ]. apply exp_order. apply Rmult_le_compat_r; [ apply Rmult_le_pos; assumption | ].
    apply Rmult_le_compat_l; [ exact P | apply le_INR, N ]. }
  specialize (A t). specialize (B' t L). specialize (C' t L). destruct (norms t) as [[[a b] c] e].
  destruct A as ((A1 & A2 & A3 & A4) & (I1 & I2 & I3 & I4)).
  repeat split; [ apply at_most_weaker with a | apply at_most_weaker with b | apply at_most_weaker with c | apply at_most_weaker with e ]; try assumption; lra.
Qed.

Lemma reach_not_negative : forall T, 0 <= reach T /\ 0 <= reach_K T.
Proof. intro T. destruct not_negative as (? & ? & ? & ?). split; apply Rmult_le_pos; try (apply Rlt_le, exp_pos); lra. Qed.

(* how far matrices have moved *)
Definition less (U W : nat -> nat -> R) (i x : nat) : R := U i x - W i x.

Theorem moved_up_to : forall T t, (t <= T)%nat ->
  at_most m ma (less (WO (w t)) (WO (w 0%nat))) (eta * INR t * reach T) /\
  at_most ma d (less (WV (w t)) (WV (w 0%nat))) (eta * INR t * reach T) /\
  at_most mb d (less (WK (w t)) (WK (w 0%nat))) (eta * INR t * (reach T * reach T * reach_K T)) /\
  at_most mb d (less (WQ (w t)) (WQ (w 0%nat))) (eta * INR t * (reach T * reach T * reach_K T)).
Proof.
  intros T t L. destruct (reach_not_negative T) as (R1 & R2). assert (RK : 0 <= reach T * reach T * reach_K T) by (apply Rmult_le_pos; [ apply Rmult_le_pos | ]; assumption).
  assert (U := fun t L => norms_up_to T t L). destruct steps as (P & KE & G & M).
  induction t as [|t E].
  - assert (Z : forall r e (W : nat -> nat -> R) c, at_most r e (less W W) (eta * INR 0 * c)).
    { intros r e W c z. rewrite (norm_equal r _ (fun _ => 0 * 0)); [ rewrite norm_scaled, Rabs_R0; simpl; lra | ].
      intros i _. unfold apply, inner, less. rewrite (total_equal e _ (fun _ => 0)) by (intros; ring). rewrite total_constant; ring. }
    repeat split; apply Z.
  - destruct (E ltac:(lia)) as (E1 & E2 & E3 & E4). specialize (U t ltac:(lia)).
    destruct (forces_below (sizes t) (batches t) (w t) _ _ _ _ (G t) (conj R1 (conj R1 (conj R2 R2))) U) as (F1 & F2 & F3 & F4).
    assert (D : forall r e W V W0 h b f c, 0 <= h <= eta -> (forall i x, V i x = W i x + h * f i x) -> 0 <= c ->
      at_most r e (less W W0) (b * c) -> at_most r e f c -> at_most r e (less V W0) ((b + eta) * c)).
    { intros r e W V W0 h b f c H X C A B. apply at_most_weaker with (b * c + h * c); [ nra | ].
      apply moved_by with (less W W0) f; [ lra | | exact A | exact B ]. intros i x. unfold less. rewrite X; ring. }
    rewrite S_INR. replace (eta * (INR t + 1)) with (eta * INR t + eta) by ring.
    repeat split; [ apply D with (WO (w t)) eta (force_O (sizes t) (batches t) (w t))
      | apply D with (WV (w t)) eta (force_V (sizes t) (batches t) (w t))
      | apply D with (WK (w t)) kappa (force_K (sizes t) (batches t) (w t))
      | apply D with (WQ (w t)) kappa (force_Q (sizes t) (batches t) (w t)) ]; try assumption; try lra; intros; apply M.
Qed.

(* while eta T is at most b, norms are at most these, free of eta *)
Definition longest (b : R) : R := exp b * (o + v).
Definition longest_K (b : R) : R := exp (b * (longest b * longest b)) * (k + q).

Lemma longest_not_negative : forall b, 0 <= longest b /\ 0 <= longest_K b.
Proof. intro b. destruct not_negative as (? & ? & ? & ?). split; apply Rmult_le_pos; try (apply Rlt_le, exp_pos); lra. Qed.

Lemma reach_longest : forall T b, eta * INR T <= b -> reach T <= longest b /\ reach_K T <= longest_K b.
Proof.
  intros T b B. destruct not_negative as (O & V & K & Q). destruct steps as (P & _).
  assert (H : reach T <= longest b) by (apply Rmult_le_compat_r; [ lra | apply exp_order, B ]).
  split; [ exact H | ]. destruct (reach_not_negative T) as (R1 & _). apply Rmult_le_compat_r; [ lra | ]. apply exp_order.
  assert (0 <= eta * INR T) by (apply Rmult_le_pos; [ exact P | apply pos_INR ]).
  assert (reach T * reach T <= longest b * longest b) by (apply Rmult_le_compat; assumption).
  apply Rmult_le_compat; try assumption. apply Rmult_le_pos; assumption.
Qed.

Theorem bounded_run : forall T b, eta * INR T <= b -> forall t, (t <= T)%nat ->
  inside (w t) (longest b) (longest b) (longest_K b) (longest_K b) /\
  at_most m ma (less (WO (w t)) (WO (w 0%nat))) (eta * INR T * longest b) /\
  at_most ma d (less (WV (w t)) (WV (w 0%nat))) (eta * INR T * longest b) /\
  at_most mb d (less (WK (w t)) (WK (w 0%nat))) (eta * INR T * (longest b * longest b * longest_K b)) /\
  at_most mb d (less (WQ (w t)) (WQ (w 0%nat))) (eta * INR T * (longest b * longest b * longest_K b)).
Proof.
  intros T b B t L. destruct (reach_longest T b B) as (A1 & A2). destruct (reach_not_negative T) as (R1 & R2).
  destruct (norms_up_to T t L) as (N1 & N2 & N3 & N4). destruct (moved_up_to T t L) as (M1 & M2 & M3 & M4).
  destruct steps as (P & _).
  assert (E : 0 <= eta * INR t <= eta * INR T).
  { split; [ apply Rmult_le_pos; [ exact P | apply pos_INR ] | apply Rmult_le_compat_l; [ exact P | apply le_INR, L ] ]. }
  assert (C : reach T * reach T * reach_K T <= longest b * longest b * longest_K b).
  { apply Rmult_le_compat; try assumption; [ apply Rmult_le_pos; assumption | apply Rmult_le_compat; assumption ]. }
  assert (D : 0 <= reach T * reach T * reach_K T) by (apply Rmult_le_pos; [ apply Rmult_le_pos | ]; assumption).
  repeat split.
  - apply at_most_weaker with (reach T); assumption.
  - apply at_most_weaker with (reach T); assumption.
  - apply at_most_weaker with (reach_K T); assumption.
  - apply at_most_weaker with (reach_K T); assumption.
  - apply at_most_weaker with (eta * INR t * reach T); [ apply Rmult_le_compat; lra | assumption ].
  - apply at_most_weaker with (eta * INR t * reach T); [ apply Rmult_le_compat; lra | assumption ].
  - apply at_most_weaker with (eta * INR t * (reach T * reach T * reach_K T)); [ apply Rmult_le_compat; lra | assumption ].
  - apply at_most_weaker with (eta * INR t * (reach T * reach T * reach_K T)); [ apply Rmult_le_compat; lra | assumption ].
Qed.

End over_steps.
End layer.
