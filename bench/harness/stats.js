/** Order statistics of small samples. Pure. */

/** Interpolates linearly between the two nearest ranks. Returns NaN if there are no values. */
export function quantile(values, q) {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * q;
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

export const median = (values) => quantile(values, 0.5);

/** (max - min) / median: the dispersion of the rounds of one run. */
export function spread(values) {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}

/** Ratios of two subjects within each round, so that a slow minute of the machine affects both sides of the ratio. */
export function pairedRatio(values, reference) {
  const ratios = [];
  for (let i = 0; i < Math.min(values.length, reference.length); i++) {
    const ratio = values[i] / reference[i];
    if (Number.isFinite(ratio)) ratios.push(ratio);
  }
  return { median: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) };
}

export function geometricMean(values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
