From Odesys Require Import sequences lengths matrices attention.

(* entries of W_O' W_O - W_V W_V' and of W_K W_K' - W_Q W_Q' *)
Definition O_V (d m : nat) (w : weights) (x y : nat) : R :=
  total m (fun i => WO w i x * WO w i y) - total d (fun c => WV w x c * WV w y c).
Definition K_Q (d : nat) (w : weights) (z y : nat) : R :=
  total d (fun c => WK w z c * WK w y c) - total d (fun c => WQ w z c * WQ w y c).

(* their rates along the flow, in which each matrix moves with minus its gradient, over any batch: by the rule of the product *)
Definition rate_O_V (d m_a m_b m : nat) (slope : weights -> sample -> R) (B : nat) (batch : nat -> sample) (w : weights) (x y : nat) : R :=
  let O' := force_O d m_a m_b slope B batch w in let V' := force_V d m_a m_b m slope B batch w in
  total m (fun i => O' i x * WO w i y + WO w i x * O' i y) - total d (fun c => V' x c * WV w y c + WV w x c * V' y c).
Definition rate_K_Q (d m_a m_b m : nat) (slope : weights -> sample -> R) (B : nat) (batch : nat -> sample) (w : weights) (z y : nat) : R :=
  let K' := force_K d m_a m_b m slope B batch w in let Q' := force_Q d m_a m_b m slope B batch w in
  total d (fun c => K' z c * WK w y c + WK w z c * K' y c) - total d (fun c => Q' z c * WQ w y c + WQ w z c * Q' y c).

Lemma pulled_out : forall e B (sizes : nat -> nat) (f : nat -> nat -> nat -> R) (u : nat -> R) a,
  total e (fun i => u i * (a * total B (fun n => total (sizes n) (fun l => f n l i)))) =
  a * total B (fun n => total (sizes n) (fun l => total e (fun i => u i * f n l i))).
Proof.
  intros e B sizes f u a.
  rewrite (total_equal e _ (fun i => a * total B (fun n => total (sizes n) (fun l => u i * f n l i)))).
  - rewrite total_scaled. f_equal. rewrite total_swap. apply total_equal. intros n _. apply total_swap.
  - intros i _. rewrite (Rmult_comm (u i)), Rmult_assoc. f_equal. rewrite <- total_times. apply total_equal. intros n _.
    rewrite <- total_times. apply total_equal. intros; ring.
Qed.

Section pairs.
Variables (d m_a m_b m : nat) (slope : weights -> sample -> R) (B : nat) (batch : nat -> sample) (w : weights).

Lemma O_with_V : forall x y, total m (fun i => WO w i x * force_O d m_a m_b slope B batch w i y) =
  total d (fun c => WV w y c * force_V d m_a m_b m slope B batch w x c).
Proof.
  intros x y. unfold force_O, force_V.
  rewrite (pulled_out m B (fun n => size (batch n)) (fun n l i => coefficient d m_a m_b slope w (batch n) l i * mixed d m_b w (batch n) l y) (fun i => WO w i x)).
  rewrite (pulled_out d B (fun n => size (batch n)) (fun n l c => total m (fun i => coefficient d m_a m_b slope w (batch n) l i * WO w i x) *
    total (size (batch n)) (fun s => attention d m_b w (batch n) s l * token (batch n) s c)) (fun c => WV w y c)).
  f_equal. apply total_equal. intros n _. apply total_equal. intros l _.
  transitivity (total m (fun i => coefficient d m_a m_b slope w (batch n) l i * WO w i x) * mixed d m_b w (batch n) l y).
  - rewrite <- total_times. apply total_equal. intros; ring.
  - rewrite (total_equal d _ (fun c => total m (fun i => coefficient d m_a m_b slope w (batch n) l i * WO w i x) *
      (WV w y c * total (size (batch n)) (fun s => attention d m_b w (batch n) s l * token (batch n) s c)))) by (intros; ring).
    rewrite total_scaled. f_equal. unfold mixed, value, apply, inner.
    rewrite (total_equal d _ (fun c => total (size (batch n)) (fun s => attention d m_b w (batch n) s l * (WV w y c * token (batch n) s c)))).
    + rewrite total_swap. apply total_equal. intros s _. rewrite total_scaled. reflexivity.
    + intros c _. rewrite <- total_scaled. apply total_equal. intros; ring.
Qed.

Lemma K_with_Q : forall z y, total d (fun c => WK w y c * force_K d m_a m_b m slope B batch w z c) =
  total d (fun c => WQ w z c * force_Q d m_a m_b m slope B batch w y c).
Proof.
  intros z y. unfold force_K, force_Q.
  rewrite (pulled_out d B (fun n => size (batch n)) (fun n l c => query d w (batch n) l z *
    total (size (batch n)) (fun s => pull d m_a m_b m slope w (batch n) s l * token (batch n) s c)) (fun c => WK w y c)).
  rewrite (pulled_out d B (fun n => size (batch n)) (fun n l c => total (size (batch n)) (fun s => pull d m_a m_b m slope w (batch n) s l * key d w (batch n) s y) *
    token (batch n) l c) (fun c => WQ w z c)).
  f_equal. apply total_equal. intros n _. apply total_equal. intros l _.
  transitivity (query d w (batch n) l z * total (size (batch n)) (fun s => pull d m_a m_b m slope w (batch n) s l * key d w (batch n) s y)).
  - rewrite (total_equal d _ (fun c => query d w (batch n) l z *
      total (size (batch n)) (fun s => pull d m_a m_b m slope w (batch n) s l * (WK w y c * token (batch n) s c)))).
    + rewrite total_scaled. f_equal. rewrite total_swap. apply total_equal. intros s _. rewrite total_scaled. reflexivity.
    + intros c _. rewrite (Rmult_comm (WK w y c)), Rmult_assoc. f_equal. rewrite <- total_times. apply total_equal. intros; ring.
  - unfold query, apply, inner. rewrite <- total_times. apply total_equal. intros; ring.
Qed.
End pairs.
