From Odesys Require Import sequences lengths.

(* W is linear with norm at most 1, takes two patterns to within sigma of features p, q that are orthonormal: |p - q| is
   sqrt 2; kappa is the distance of the patterns, which have length 1, and lambda their inner product *)
Theorem patterns_are_apart : forall (d e : nat) (W : (nat -> R) -> nat -> R) (mu nu p q : nat -> R) (sigma : R),
  (forall a b k, W (fun j => a j - b j) k = W a k - W b k) -> (forall a, norm e (W a) <= norm d a) ->
  norm e (fun k => W mu k - p k) <= sigma -> norm e (fun k => q k - W nu k) <= sigma ->
  inner e p p = 1 -> inner e q q = 1 -> inner e p q = 0 -> inner d mu mu = 1 -> inner d nu nu = 1 ->
  sqrt 2 - 2 * sigma <= norm d (fun j => mu j - nu j) /\
  (0 <= sqrt 2 - 2 * sigma -> inner d mu nu <= overlap sigma).
Proof.
  intros d e W mu nu p q sigma linear shortens first second P Q O M N.
  assert (length : norm e (fun k => p k - q k) = sqrt 2).
  { unfold norm. f_equal. transitivity (inner e (fun k => 1 * p k + -1 * q k) (fun k => 1 * p k + -1 * q k)).
    - apply total_equal. intros; ring.
    - rewrite square_of_sum, P, Q, O. ring. }
  assert (flip : norm e (fun k => p k - W mu k) = norm e (fun k => W mu k - p k)).
  { unfold norm. f_equal. apply total_equal. intros; ring. }
  assert (flop : norm e (fun k => W nu k - q k) = norm e (fun k => q k - W nu k)).
  { unfold norm. f_equal. apply total_equal. intros; ring. }
  assert (T1 := norm_triangle e (fun k => p k - W mu k) (fun k => W mu k - q k)).
  assert (T2 := norm_triangle e (W (fun j => mu j - nu j)) (fun k => W nu k - q k)).
  assert (E1 : norm e (fun k => p k - W mu k + (W mu k - q k)) = norm e (fun k => p k - q k)).
  { unfold norm. f_equal. apply total_equal. intros; ring. }
  assert (E2 : norm e (fun k => W (fun j => mu j - nu j) k + (W nu k - q k)) = norm e (fun k => W mu k - q k)).
  { unfold norm. f_equal. apply total_equal. intros; rewrite linear; ring. }
  cbv beta in T1, T2. rewrite E1, length, flip in T1. rewrite E2, flop in T2. assert (S := shortens (fun j => mu j - nu j)).
  assert (K : sqrt 2 - 2 * sigma <= norm d (fun j => mu j - nu j)) by lra.
  split; [ exact K | intro positive ].
  assert (square : norm d (fun j => mu j - nu j) * norm d (fun j => mu j - nu j) = 2 - 2 * inner d mu nu).
  { rewrite norm_square. transitivity (inner d (fun k => 1 * mu k + -1 * nu k) (fun k => 1 * mu k + -1 * nu k)).
    - apply total_equal. intros; ring.
    - rewrite square_of_sum, M, N. ring. }
  unfold overlap. nra.
Qed.
