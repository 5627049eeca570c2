/** Functions that processes of a mesh run. */
import { context } from "viceroy";
import { float, remote, type Tensor, torch } from "viceroy/tensor";

/** Counts calls in this process. */
let calls = 0;

export const scaled = remote(
  import.meta.url,
  "scaled",
  (x: Tensor, by: number): Tensor => x.mul(float(by)),
  (x) => x,
);

export const made = remote(import.meta.url, "made", async (options: { size: number; names?: string[] }) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  return [torch.ones([options.size]), torch.zeros([options.names?.length ?? 0])];
});

export const described = remote(import.meta.url, "described", (values: { of: Tensor; more: (Tensor | null)[] }) => ({
  rank: context().actor.rank.rank,
  place: context().proc.rank,
  sum: Number(values.of.sum().item()),
  more: values.more.map((one) => one?.shape ?? null),
  back: values.of,
  calls: ++calls,
}));

export const failing = remote(import.meta.url, "failing", (x: Tensor, message: string): Tensor => {
  if (message !== "") throw new Error(message);
  return x;
});

export const wrong = remote(import.meta.url, "wrong", () => ({ when: new Date(0) }));
