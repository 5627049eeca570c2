import { Channel, codec, type Port } from "viceroy";
import { RdmaBuffer } from "viceroy/rdma";
import { type Address, type Chain, type Envelope, type Parcel, type Postcard, RelayActor } from "../generated/relay.js";
import type { ShopMesh } from "../generated/shop.js";

/** Uses every handle that it gets, as an actor may that trusts its mesh. */
export class TrustingRelay extends RelayActor {
  #arrived = 0;

  plain(parcel: Parcel) {
    return parcel;
  }

  async *plainChain(chain: Chain<Parcel>) {
    yield chain;
  }

  arrived() {
    return this.#arrived;
  }

  port(to: Port<string>) {
    this.#send(to);
  }

  optional(to?: Port<string>) {
    this.#send(to);
  }

  mesh(shops: ShopMesh) {
    this.#call(shops);
  }

  async memory(from: RdmaBuffer) {
    this.#arrived++;
    const bytes = new Uint8Array(from.size);
    await from.readInto(bytes);
    return bytes[0]!;
  }

  list(all: Address[]) {
    for (const { shops } of all) this.#call(shops);
  }

  keyed(all: Map<string, RdmaBuffer>) {
    this.#arrived += all.size;
  }

  odd(all: Map<Parcel, Port<string>[]>) {
    for (const port of [...all.values()].flat()) this.#send(port);
  }

  record(all: Record<string, Address>) {
    this.list(Object.values(all));
  }

  tuple([, ...ports]: [count: number, ...rest: Port<string>[]]) {
    for (const port of ports) this.#send(port);
  }

  union(message: Envelope | Postcard) {
    if (message.kind === "envelope") this.#send(message.reply);
  }

  choice(message: { case: "text"; value: string } | { case: "address"; value: Address }) {
    if (message.case === "address") this.#call(message.value.shops);
  }

  generic(chain: Chain<Port<string>>) {
    for (let at: Chain<Port<string>> | undefined = chain; at !== undefined; at = at.next) this.#send(at.value);
  }

  deep(chain: Chain<Chain<Address>>) {
    this.#call(chain.value.value.shops);
  }

  givePort() {
    const [port] = Channel.open(codec.string);
    return port;
  }

  giveMemory() {
    return [RdmaBuffer.allocate(4096)];
  }

  async *giveMany() {
    yield { kind: "envelope" as const, reply: this.givePort() };
  }

  #send(port: Port<string> | undefined) {
    if (port === undefined) return;
    this.#arrived++;
    port.send("hello");
  }

  #call(shops: ShopMesh | null) {
    if (shops === null) return;
    this.#arrived++;
    shops.name.choose().catch(() => {});
  }
}
