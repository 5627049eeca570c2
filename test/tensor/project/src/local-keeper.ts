import { context } from "viceroy";
import { float, type Tensor, torch } from "viceroy/tensor";
import { type Batch, KeeperActor, type KeeperMesh } from "../generated/keeper.js";

export class LocalKeeper extends KeeperActor {
  readonly #factor: number;
  readonly #noted: string[] = [];
  #total = 0;

  constructor(factor: number) {
    super();
    this.#factor = factor;
  }

  async widen(batch: Tensor, outputs: number): Promise<Tensor> {
    this.#noted.push("widen");
    // Others could come in between, if messages did not keep their order.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const [rows = 0, columns = 0] = batch.shape;
    const weights = torch.full([columns, outputs], float(this.#factor * (this.#rank + 1)), { dtype: "float32" });
    return batch.matmul(weights).view([rows, outputs]);
  }

  halve(batch: Tensor): [Tensor, Tensor] {
    const half = (batch.shape[0] ?? 0) / 2;
    return [batch.narrow(0, 0, half), batch.narrow(0, half, half)];
  }

  lie(batch: Tensor): Tensor {
    return batch;
  }

  count(to: number, differ: boolean): Tensor {
    return torch.arange(0, differ ? to + this.#rank : to);
  }

  pieces(batch: Tensor): Tensor[] {
    return [...batch.chunk(2)];
  }

  fail(batch: Tensor, rank: number): Tensor {
    if (this.#rank === rank) throw new Error(`rank ${rank} was told to`);
    return batch;
  }

  hang(batch: Tensor, rank: number): Tensor | Promise<Tensor> {
    return this.#rank === rank ? new Promise<Tensor>(() => {}) : batch;
  }

  async ask(batch: Tensor, other: KeeperMesh, waits: boolean): Promise<Tensor> {
    if (waits) return batch.add((await other.total.callOne()) as number);
    other.note.broadcast("asked");
    await new Promise((resolve) => setTimeout(resolve, 100));
    return batch;
  }

  die(batch: Tensor, rank: number): Tensor | Promise<Tensor> {
    if (this.#rank !== rank) return batch;
    setTimeout(() => process.exit(1), 50);
    return new Promise<Tensor>(() => {});
  }

  failLate(rank: number): Tensor {
    if (this.#rank === rank) throw new Error(`rank ${rank} was told to`);
    return torch.ones([1]);
  }

  add({ name, parts }: Batch): void {
    this.#noted.push(name);
    for (const part of parts) this.#total += Number(part.sum().item());
  }

  total(): number {
    return this.#total;
  }

  *rows(batch: Tensor): Generator<number> {
    for (const row of batch.unbind()) yield Number(row.sum().item());
  }

  note(what: string): void {
    this.#noted.push(what);
  }

  noted(): string[] {
    return this.#noted;
  }

  get #rank(): number {
    return context().actor.rank.rank;
  }
}
