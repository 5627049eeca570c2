import { RdmaBuffer } from "viceroy/rdma";
import { LibraryActor, type Tile } from "../generated/atlas.js";
import { writeAtlasCapnp } from "../generated/capnp/atlas.js";

/** Points along each side of a tile. */
const side = 256;

export class MapRoom extends LibraryActor {
  readonly #memory: RdmaBuffer;

  constructor(tiles: number) {
    super();
    // The memory has room for the names and the pointers to them. It may be larger than the message.
    this.#memory = RdmaBuffer.allocate(tiles * (2 * side * side + 128) + 1024);
    const atlas = { title: "Hills", tiles: Array.from({ length: tiles }, (_, i) => makeTile(i)) };
    writeAtlasCapnp(atlas, { into: this.#memory.view });
  }

  atlas(): RdmaBuffer {
    return this.#memory.grant({ access: "r" });
  }

  override async cleanup(): Promise<void> {
    await this.#memory.drop();
  }
}

/** Makes a tile with a hill in its middle, whose height is the number of the tile. */
function makeTile(i: number): Tile {
  const heights = new Int16Array(side * side);
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      heights[row * side + column] = i - Math.abs(row - side / 2) - Math.abs(column - side / 2);
    }
  }
  return { name: `tile ${i}`, west: i % 360, north: 60 - Math.floor(i / 360), highest: i, heights };
}
