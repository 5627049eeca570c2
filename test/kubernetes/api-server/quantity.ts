/** Quantities of Kubernetes, such as `500m`, `4Gi` or `2`. */

const suffixes: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Returns a quantity as a number. @throws Error if it is none */
export function quantity(text: string | number): number {
  const parsed = /^([\d.]+)([a-zA-Z]*)$/.exec(String(text));
  const factor = parsed?.[2] === "" ? 1 : suffixes[parsed?.[2] ?? "?"];
  if (parsed === null || factor === undefined)
    throw new Error(`cannot read a quantity: expected a number with a suffix, got ${text}`);
  return Number(parsed[1]) * factor;
}

export type Amounts = Record<string, number>;

interface PodSpec {
  readonly containers: readonly {
    readonly resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  }[];
}

/** Returns what the containers of a pod request together; a limit without a request counts as one. */
export function requestsOf({ containers }: PodSpec): Amounts {
  const sum: Amounts = {};
  for (const { resources = {} } of containers) {
    for (const [name, amount] of Object.entries({ ...resources.limits, ...resources.requests })) {
      sum[name] = (sum[name] ?? 0) + quantity(amount);
    }
  }
  return sum;
}
