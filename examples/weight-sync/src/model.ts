/** A model with known weights: in version `v`, each weight is its initial value plus `v`. */
export function initialWeight(i: number): number {
  return (i % 1024) / 1024;
}

/** Returns whether all weights are of one version. */
export function isWhole(weights: Float32Array, version: number): boolean {
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] !== version + initialWeight(i)) return false;
  }
  return true;
}
