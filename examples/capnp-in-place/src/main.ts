/** Reads single fields of a Cap'n Proto message of 100 MiB in another process. Little more than these fields is transferred. */
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

// Over any transport, the reader fetches only the bytes that it accesses.
const message = new RemoteMessage(atlas);
const highest = await message.read((bytes) => lastTile(readAtlasCapnp(bytes)).highest);
console.log(`highest point of the last tile: ${highest} m`);
report();
const heights = await message.read((bytes) => lastTile(readAtlasCapnp(bytes)).heights);
console.log(`all ${heights.length} heights of the last tile: at most ${Math.max(...heights)} m`);
report();

// If the transport can map the memory, the reader reads in place and copies no byte.
if (atlas.transport === "shared") {
  const reader = readAtlasCapnp(await atlas.map());
  const { name, north } = lastTile(reader);
  console.log(`read in place: ${reader.title}, ${reader.tiles.length} tiles, ${name} begins at ${north} degrees north`);
} else {
  console.log(`${atlas.transport} cannot map memory`);
}

function report(): void {
  const { fetched, reads } = message;
  const size = (atlas.size / 2 ** 20).toFixed(1);
  console.log(`  ${fetched / 1024} KiB of ${size} MiB read by ${atlas.transport}, in ${reads} reads`);
}
