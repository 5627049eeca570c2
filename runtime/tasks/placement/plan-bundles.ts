/** Chooses the hosts of the bundles of a placement group. It is pure: hosts are amounts of resources. */

/** The strategy by which the bundles of a group are placed. */
export type PlacementStrategy = "pack" | "spread" | "strictPack" | "strictSpread";

/** The strategies, for checks. */
export const strategies: readonly PlacementStrategy[] = ["pack", "spread", "strictPack", "strictSpread"];

type Amounts = Readonly<Record<string, number>>;

/**
 * Returns the index of the host of each bundle, or undefined if the hosts do not have enough.
 *
 * - `pack` uses few hosts: each bundle goes to the host with the most bundles of the group that has room for it.
 * - `spread` uses many: each bundle goes to the host with the fewest.
 * - `strictPack` uses one host, and `strictSpread` a host for each bundle.
 *
 * @param bundles what each bundle needs
 * @param free what each host has
 */
export function planBundles(
  bundles: readonly Amounts[],
  free: readonly Amounts[],
  strategy: PlacementStrategy,
): number[] | undefined {
  if (strategy === "strictPack") {
    const all = bundles.reduce<Record<string, number>>((sum, bundle) => add(sum, bundle), {});
    const host = free.findIndex((amounts) => fits(all, amounts));
    return host < 0 ? undefined : bundles.map(() => host);
  }
  const left = free.map((amounts) => ({ ...amounts }));
  const counts = free.map(() => 0);
  const hosts: number[] = [];
  // Large bundles are placed first: small ones find room between them.
  const order = [...bundles.keys()].sort((a, b) => sizeOf(bundles[b]!, free) - sizeOf(bundles[a]!, free) || a - b);
  for (const bundle of order) {
    const host = bestHost(bundles[bundle]!, left, counts, strategy);
    if (host === undefined) return undefined;
    hosts[bundle] = host;
    counts[host]!++;
    add(left[host]!, bundles[bundle]!, -1);
  }
  return hosts;
}

function bestHost(
  bundle: Amounts,
  left: readonly Amounts[],
  counts: readonly number[],
  strategy: PlacementStrategy,
): number | undefined {
  let best: number | undefined;
  for (const [host, amounts] of left.entries()) {
    if (!fits(bundle, amounts) || (strategy === "strictSpread" && counts[host]! > 0)) continue;
    const isBetter =
      best === undefined || (strategy === "pack" ? counts[host]! > counts[best]! : counts[host]! < counts[best]!);
    if (isBetter) best = host;
  }
  return best;
}

function fits(wanted: Amounts, amounts: Amounts): boolean {
  // Fractions are sums of numbers like 0.1.
  return Object.entries(wanted).every(([name, amount]) => amount <= (amounts[name] ?? 0) + 1e-9);
}

function add(sum: Record<string, number>, amounts: Amounts, sign = 1): Record<string, number> {
  for (const [name, amount] of Object.entries(amounts)) sum[name] = (sum[name] ?? 0) + sign * amount;
  return sum;
}

/** Returns the largest share that a bundle takes of what all hosts have of a resource. */
function sizeOf(bundle: Amounts, free: readonly Amounts[]): number {
  const shares = Object.entries(bundle).map(([name, amount]) => {
    const all = free.reduce((sum, amounts) => sum + (amounts[name] ?? 0), 0);
    return all === 0 ? 0 : amount / all;
  });
  return Math.max(0, ...shares);
}
