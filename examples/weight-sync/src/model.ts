/** A model whose weights are known: in version `v`, each is `v` more than it was at first. */
export function initialWeight(i: number): number {
  return (i % 1024) / 1024;
}

/** Whether all of these are weights of that version. */
export function isWhole(weights: Float32Array, version: number): boolean {
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] !== version + initialWeight(i)) return false;
  }
  return true;
}
