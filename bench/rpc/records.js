/**
 * The record that all calls carry: twelve fields and a list of four items. There are sixteen instances, so that V8 cannot fold values
 * into constants. Strings are flat one-byte strings, as they come from a socket. Absent optionals are absent properties.
 */
const flat = (text) => Buffer.from(text, "latin1").toString("latin1");

function record(v) {
  return {
    id: 40_000 + v,
    name: flat(`worker-${10_000 + v * 37}`),
    email: flat(`worker${v}@cluster-${v % 4}.example.com`),
    createdAt: 1.7e12 + v * 1_234_567,
    score: 0.123456789 * (v + 1),
    level: v - 5,
    active: v % 2 === 0,
    status: v % 3,
    ...(v % 2 === 1 && { note: flat(`note number ${v}`) }),
    ...(v % 4 === 0 && { parent: v + 7 }),
    path: flat(`/srv/cluster/${v}/rank/${v * 3}/log.txt`),
    origin: { lat: 52.1 + v, lon: 4.9 - v },
    items: Array.from({ length: 4 }, (_, i) => ({
      sku: flat(`SKU-${v * 100 + i}`),
      qty: i * 3 + 1,
      price: 9.99 * (i + 1) + v,
    })),
  };
}

export const records = Array.from({ length: 16 }, (_, v) => record(v));
