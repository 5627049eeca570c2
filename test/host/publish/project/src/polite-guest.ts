import { GuestActor, type IndexMesh } from "../generated/index.js";

export class PoliteGuest extends GuestActor {
  async visit(index: IndexMesh, word: string): Promise<number[]> {
    return [...(await index.add.call(word)).values()];
  }
}
