/** A process keeps a Cap'n Proto message of 100 MiB; this one reads single fields of it, and moves little more than those. */
import { thisHost } from "viceroy";
import { RemoteMessage } from "viceroy/capnp/v1";
import { type AtlasReader, readAtlasCapnp } from "../generated/capnp/atlas.js";
import "../generated/registry.js";
import { MapRoom } from "./map-room.js";

const tiles = Number(process.argv[2] ?? 800);

await using procs = thisHost().spawnProcs();
const library = procs.spawn("library", MapRoom, tiles);
const atlas = await library.atlas.callOne();

const lastTile = (reader: AtlasReader) => reader.tiles.at(-1)!;

// Piece by piece, which every transport can: only what is looked at is fetched.
const message = new RemoteMessage(atlas);
const highest = await message.read((bytes) => lastTile(readAtlasCapnp(bytes)).highest);
console.log(`the highest place of the last tile: ${highest} m`);
report();
const heights = await message.read((bytes) => lastTile(readAtlasCapnp(bytes)).heights);
console.log(`all ${heights.length} heights of it: up to ${Math.max(...heights)} m`);
report();

// In place, where the memory can be mapped: no byte is copied.
if (atlas.transport === "shared") {
  const reader = readAtlasCapnp(await atlas.map());
  const { name, north } = lastTile(reader);
  console.log(`read in place: ${reader.title}, ${reader.tiles.length} tiles, ${name} begins at ${north} degrees north`);
} else {
  console.log(`${atlas.transport} maps no memory`);
}

function report(): void {
  const { fetched, reads } = message;
  const all = (atlas.size / 2 ** 20).toFixed(1);
  console.log(`  ${fetched / 1024} KiB of ${all} MiB moved by ${atlas.transport}, in ${reads} reads`);
}
