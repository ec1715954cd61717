(* Euclidean length of vectors with d entries: the inequalities of Cauchy and Schwarz, and of the triangle.
   Nothing is assumed here. *)
From Coq Require Import Reals Lra Lia Psatz.
From Odesys Require Import prelude sequences.
Open Scope R_scope.

Definition norm (d : nat) (w : nat -> R) : R := sqrt (inner d w w).

Lemma square_not_negative : forall d w, 0 <= inner d w w.
Proof.
  intros d w. unfold inner. replace 0 with (total d (fun _ => 0)) by (rewrite total_constant; ring).
  apply total_at_most. intros; nra.
Qed.

Lemma norm_square : forall d w, norm d w * norm d w = inner d w w.
Proof. intros. apply sqrt_sqrt, square_not_negative. Qed.

Lemma norm_not_negative : forall d w, 0 <= norm d w.
Proof. intros. apply sqrt_pos. Qed.

Lemma square_of_sum : forall d w z a b,
  inner d (fun k => a * w k + b * z k) (fun k => a * w k + b * z k) =
  a * a * inner d w w + 2 * a * b * inner d w z + b * b * inner d z z.
Proof.
  intros d w z a b. unfold inner. induction d as [|d E]; simpl; [ ring | rewrite E; ring ].
Qed.

Lemma cauchy_schwarz : forall d w z, Rabs (inner d w z) <= norm d w * norm d z.
Proof.
  intros d w z. assert (A := norm_not_negative d w). assert (B := norm_not_negative d z).
  assert (P := square_not_negative d (fun k => norm d z * w k + - norm d w * z k)).
  assert (Q := square_not_negative d (fun k => norm d z * w k + norm d w * z k)).
  rewrite square_of_sum, <- !norm_square in P, Q.
  set (u := norm d w) in *. set (v := norm d z) in *. set (c := inner d w z) in *.
  assert (F : 0 <= u * v * (u * v - c)) by nra. assert (G : 0 <= u * v * (u * v + c)) by nra.
  destruct (Rle_lt_dec (u * v) 0) as [Z|Z].
  - assert (N : forall x, norm d x = 0 -> forall k, (k < d)%nat -> x k = 0).
    { intros x X k K. assert (S := norm_square d x). rewrite X in S.
      assert (T : forall n, (n <= d)%nat -> 0 <= total n (fun k => x k * x k) /\
        (total n (fun k => x k * x k) = 0 -> forall k, (k < n)%nat -> x k = 0)).
      { induction n as [|n E]; intro L; [ split; [ simpl; lra | intros; lia ] | ]. destruct (E ltac:(lia)) as [H1 H2].
        simpl. split; [ nra | ]. intros H j J. destruct (Nat.eq_dec j n) as [->|D]; [ nra | apply H2; [ nra | lia ] ]. }
      apply (proj2 (T d (le_n d))); [ unfold inner in S; lra | exact K ]. }
    assert (C : c = 0).
    { unfold c, inner. transitivity (total d (fun _ => 0)); [ | rewrite total_constant; ring ].
      destruct (Req_dec u 0) as [U|U].
      - apply total_equal. intros k K. rewrite (N w U k K). ring.
      - assert (V : v = 0) by nra. apply total_equal. intros k K. rewrite (N z V k K). ring. }
    rewrite C, Rabs_R0. nra.
  - apply Rabs_le. split; nra.
Qed.

Lemma norm_triangle : forall d w z, norm d (fun k => w k + z k) <= norm d w + norm d z.
Proof.
  intros d w z. assert (S := square_of_sum d w z 1 1). assert (C := within _ _ (cauchy_schwarz d w z)).
  assert (E : inner d (fun k => 1 * w k + 1 * z k) (fun k => 1 * w k + 1 * z k) =
    inner d (fun k => w k + z k) (fun k => w k + z k)) by (apply total_equal; intros; ring).
  rewrite E in S. rewrite <- !norm_square in S.
  assert (A := norm_not_negative d w). assert (B := norm_not_negative d z). assert (D := norm_not_negative d (fun k => w k + z k)).
  nra.
Qed.
