/* Search runs in a worker, and browsers start no workers on pages that are opened as files. There, a hidden frame
   does the work: it runs the same script and hears and sends the same messages. */
class FrameWorker extends EventTarget {
  constructor(url) {
    super()
    this.frame = document.createElement("iframe")
    this.frame.hidden = true
    document.body.append(this.frame)
    this.inside = this.frame.contentWindow
    window.addEventListener("message", event => {
      if (event.source !== this.inside) return
      const heard = new MessageEvent("message", { data: event.data })
      this.dispatchEvent(heard)
      if (this.onmessage) this.onmessage(heard)
    })
    this.ready = new Promise(resolve => { this.loaded = resolve })
    const page = this.inside.document
    page.open()
    page.write("<body></body>")
    page.close()
    this.inside.postMessage = data => window.dispatchEvent(
      new MessageEvent("message", { data, source: this.inside })
    )
    this.inside.importScripts = async (...urls) => {
      for (const each of urls) await this.load(each)
    }
    this.load(url).then(this.loaded)
  }

  load(url) {
    return new Promise((resolve, reject) => {
      const script = this.inside.document.createElement("script")
      script.src = url
      script.onload = resolve
      script.onerror = reject
      this.inside.document.body.append(script)
    })
  }

  postMessage(data) {
    this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
  }

  terminate() {
    this.frame.remove()
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker
