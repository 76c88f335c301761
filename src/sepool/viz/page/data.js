// Arrays and lists in the page, decoded on demand.
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// The numbers of a block as a typed array, null without such a block.
function numbersOf(name, Type) {
  const element = document.getElementById(`data-${name}`);
  return element && new Type(bytesOf(element.textContent).buffer);
}

function listOf(name) {
  const element = document.getElementById(`data-${name}`);
  return element && JSON.parse(element.textContent);
}
