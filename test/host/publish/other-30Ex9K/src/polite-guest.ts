import { GuestActor, type GuestMesh, type IndexMesh, type Place } from "../generated/index.js";

export class PoliteGuest extends GuestActor {
  async visit(index: IndexMesh, word: string): Promise<number[]> {
    return [...(await index.add.call(word)).values()];
  }
  ask(index: IndexMesh, [next, ...others]: GuestMesh[]): PromiseLike<Place> {
    return next === undefined ? index.where.callOne() : next.ask.callOne(index, others);
  }
}
