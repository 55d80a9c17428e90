//! Draws the pictures of the router's graph into a folder: `make graph` says docs/.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("expected the folder to draw into")?;
    for (path, picture) in nodes::pictures::pictures()? {
        std::fs::write(std::path::Path::new(&folder).join(path), picture)?;
    }
    Ok(())
}
